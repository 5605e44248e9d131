/** Checks an installation. Each finding is a sentence, with advice where something is wrong. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { ExitWith } from "../failures.ts"
import { printResult } from "../output.ts"
import { configOf, nodeCheck, secretsCheck, variablesCheck } from "./configurationChecks.ts"
import { databaseCheck } from "./databaseChecks.ts"
import { dataDirectoryCheck, diskCheck } from "./diskChecks.ts"
import type { Check, Finding } from "./findings.ts"
import { gatewayCheck } from "./gatewayChecks.ts"
import { archiveCheck, portCheck } from "./networkChecks.ts"
import { signInCheck } from "./signInCheck.ts"

type Requirements =
  | Effect.Services<ReturnType<typeof databaseCheck.run>>
  | Effect.Services<ReturnType<typeof gatewayCheck.run>>

/** All checks in the order of their dependencies: a failed check may make later checks fail too. */
const checks: ReadonlyArray<Check<Requirements>> = [
  nodeCheck,
  variablesCheck,
  secretsCheck,
  dataDirectoryCheck,
  diskCheck,
  databaseCheck,
  portCheck,
  archiveCheck,
  signInCheck,
  gatewayCheck
]

const marks = { ok: "ok   ", look: "look ", wrong: "WRONG", unknown: "?    " } as const

const findingText = ({ name, status, says, advice }: Finding & { readonly name: string }): string =>
  `${marks[status]}  ${name}: ${says}${advice === undefined ? "" : `\n       ${advice}`}`

export const doctorCommand = Command.make(
  "doctor",
  {},
  Effect.fn("cli.doctor")(function* () {
    const environment = process.env
    const installation = { environment, config: configOf(environment) }
    const findings = (yield* Effect.forEach(checks, ({ name, run: look }) =>
      Effect.map(look(installation), (findings) =>
        findings.map((finding) => ({ name, ...finding }))
      )
    )).flat()
    const faults = findings.filter(({ status }) => status === "wrong").length
    yield* printResult({ ok: faults === 0, findings: findings }, () =>
      [
        ...findings.map(findingText),
        faults === 0
          ? "Nothing is wrong."
          : `${faults} ${faults === 1 ? "thing is" : "things are"} wrong.`
      ].join("\n")
    )
    if (faults > 0) return yield* new ExitWith({ code: 1 })
  })
).pipe(
  Command.withDescription(
    "Look at Node.js, variables, secrets, disk, database, port, archive, sign-in, gateway, channels and books; ends with 1 where something is wrong"
  )
)
