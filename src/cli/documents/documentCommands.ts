/** Commands for the documents that describe vendors; they need no gateway and send nothing. */
import { Console, Effect, FileSystem, Option, Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { builtInDocuments } from "../../domain/queue/builtInDocuments.ts"
import { decodeQueueDocument } from "../../domain/queue/decodeQueueDocument.ts"
import type { FieldFault } from "../../domain/requestFields.ts"
import { CommandFailure, ExitWith, failureOf } from "../failures.ts"
import { printResult } from "../output.ts"
import { describeDocument, describeRequest, summaryOf } from "./describeDocument.ts"
import { planRequest } from "./orderRequest.ts"

const STANDARD_INPUT = "-"

/** The name of a file in messages. */
const nameOf = (file: string): string => (file === STANDARD_INPUT ? "The standard input" : file)

const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

const readJson = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const path = file === STANDARD_INPUT ? "/dev/stdin" : file
  const text = yield* Effect.mapError(files.readFileString(path), failureOf(nameOf(file)))
  return yield* Effect.mapError(
    decodeJson(text),
    () => new CommandFailure({ message: `${nameOf(file)} is no JSON` })
  )
})

/** Prints every fault by its path, and ends the command with exit code 1. */
const failWithFaults = Effect.fnUntraced(function* (
  sentence: string,
  faults: ReadonlyArray<FieldFault>
) {
  yield* printResult({ ok: false, faults }, () =>
    [
      sentence,
      ...faults.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`)
    ].join("\n")
  )
  return yield* new ExitWith({ code: 1 })
})

const file = Argument.String("file").pipe(
  Argument.withDescription("A vendor's document as JSON; - is the standard input")
)

const check = Command.make(
  "check",
  {
    file,
    order: Flag.String("order").pipe(
      Flag.withDescription("An order as JSON: show the request that the vendor would be sent"),
      Flag.optional
    ),
    baseUrl: Flag.String("base-url").pipe(
      Flag.withDescription("The base address of the channel, for the shown request"),
      Flag.withDefault("https://vendor.example")
    )
  },
  Effect.fn("cli.documentCheck")(function* ({ file, order, baseUrl }) {
    const documentResult = decodeQueueDocument(yield* readJson(file))
    if (Result.isFailure(documentResult)) {
      return yield* failWithFaults(`${nameOf(file)} has faults:`, documentResult.failure)
    }
    const summary = summaryOf(documentResult.success)
    if (Option.isNone(order)) {
      return yield* printResult({ ok: true, ...summary }, () => describeDocument(summary))
    }
    const request = planRequest(documentResult.success, yield* readJson(order.value), baseUrl)
    if (Result.isFailure(request)) {
      return yield* failWithFaults("The order would be refused:", request.failure)
    }
    yield* printResult({ ok: true, ...summary, request: request.success }, () =>
      describeRequest(request.success)
    )
  })
).pipe(
  Command.withDescription(
    "Say every fault of a vendor's document, or what it describes; ends with 1 where it has one"
  )
)

const show = Command.make(
  "show",
  {
    id: Argument.Literals(
      "id",
      builtInDocuments.map(({ id }) => id)
    ).pipe(Argument.withDescription("A vendor whose document comes with the gateway"))
  },
  Effect.fn("cli.documentShow")(function* ({ id }) {
    const document = builtInDocuments.find((one) => one.id === id)
    yield* Console.log(JSON.stringify(document, null, 2))
  })
).pipe(Command.withDescription("Print a document that comes with the gateway, as an example"))

export const documentCommand = Command.make("document").pipe(
  Command.withDescription("Vendors that a JSON document describes"),
  Command.withSubcommands([check, show])
)
