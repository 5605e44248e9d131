/** What is wrong with an installation, in sentences, each with what to do about it. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { EndsWith } from "../failures.ts"
import { tell } from "../output.ts"
import { configOf, nodeCheck, secretsCheck, variablesCheck } from "./configurationChecks.ts"
import { databaseCheck } from "./databaseChecks.ts"
import { dataDirectoryCheck, diskCheck } from "./diskChecks.ts"
import type { Check, Finding } from "./findings.ts"
import { gatewayCheck } from "./gatewayChecks.ts"
import { archiveCheck, portCheck } from "./networkChecks.ts"

type Needs =
  | Effect.Services<ReturnType<typeof databaseCheck.look>>
  | Effect.Services<ReturnType<typeof gatewayCheck.look>>

/** In the order in which one would look oneself: what comes first makes the rest fail. */
const checks: ReadonlyArray<Check<Needs>> = [
  nodeCheck,
  variablesCheck,
  secretsCheck,
  dataDirectoryCheck,
  diskCheck,
  databaseCheck,
  portCheck,
  archiveCheck,
  gatewayCheck
]

const marks = { ok: "ok   ", look: "look ", wrong: "WRONG", unknown: "?    " } as const

const lines = ({ name, status, says, advice }: Finding & { readonly name: string }): string =>
  `${marks[status]}  ${name}: ${says}${advice === undefined ? "" : `\n       ${advice}`}`

export const doctorCommand = Command.make(
  "doctor",
  {},
  Effect.fn("cli.doctor")(function* () {
    const environment = process.env
    const installation = { environment, config: configOf(environment) }
    const found = (yield* Effect.forEach(checks, ({ name, look }) =>
      Effect.map(look(installation), (findings) =>
        findings.map((finding) => ({ name, ...finding }))
      )
    )).flat()
    const faults = found.filter(({ status }) => status === "wrong").length
    yield* tell({ ok: faults === 0, findings: found }, () =>
      [
        ...found.map(lines),
        faults === 0
          ? "Nothing is wrong."
          : `${faults} ${faults === 1 ? "thing is" : "things are"} wrong.`
      ].join("\n")
    )
    if (faults > 0) return yield* new EndsWith({ code: 1 })
  })
).pipe(
  Command.withDescription(
    "Look at Node.js, variables, secrets, disk, database, port, archive, gateway, channels and books; ends with 1 where something is wrong"
  )
)
