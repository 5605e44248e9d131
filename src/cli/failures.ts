/** Failures of commands: their messages and the exit codes of the process. */
import { Predicate, Runtime, Schema } from "effect"
import { errorTable } from "../domain/errorTable.ts"

/** A command failed; `message` is printed. */
export class CommandFailure extends Schema.TaggedError<CommandFailure>()("CommandFailure", {
  message: Schema.String,
  /** The code that the process ends with; 1 when left out. */
  exitCode: Schema.optionalKey(Schema.Int)
}) {
  override get [Runtime.errorExitCode]() {
    return this.exitCode ?? 1
  }
}

/** Ends the process with a code; the command has printed its result already. */
export class ExitWith extends Schema.TaggedError<ExitWith>()("ExitWith", { code: Schema.Int }) {
  override get [Runtime.errorExitCode]() {
    return this.code
  }
}

/** The message of the deepest cause; those above are general, such as "fetch failed". */
export const deepestReason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) {
    return deepestReason(error.errors[0])
  }
  return error.cause === undefined || error.cause === null
    ? error.message
    : deepestReason(error.cause)
}

const GatewayErrorBody = Schema.Struct({
  _tag: Schema.Literals(Object.keys(errorTable)),
  message: Schema.String,
  param: Schema.NullOr(Schema.String),
  faults: Schema.optionalKey(
    Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
  )
})
const isGatewayErrorBody = Schema.is(GatewayErrorBody)

/** An error of the gateway by its message, code and field, and every fault on a line of its own. */
export const gatewayErrorText = (error: unknown): string | null => {
  if (!isGatewayErrorBody(error)) return null
  const param = error.param === null ? "" : `, ${error.param}`
  const faults = error.faults?.map(({ path, message }) => `\n  ${path}: ${message}`) ?? []
  return `${error.message} (${error._tag}${param})${faults.join("")}`
}

/** Translates the error of a call to the gateway at the address into a message for people. */
export const toCommandFailure =
  (address: string) =>
  (error: unknown): CommandFailure => {
    if (error instanceof CommandFailure) return error
    const gatewayError = gatewayErrorText(error)
    if (gatewayError !== null) return new CommandFailure({ message: gatewayError })
    const reason = Predicate.hasProperty(error, "reason") ? error.reason : null
    return new CommandFailure({
      message: Predicate.isTagged(reason, "TransportError")
        ? `The gateway at ${address} cannot be reached: ${deepestReason(error)}`
        : `The gateway at ${address} gave an answer that cannot be used: ${
            error instanceof Error ? error.message : String(error)
          }`
    })
  }

/** The failure of something else than a gateway; `what` names it. */
export const failureOf = (what: string) => (error: Error) =>
  new CommandFailure({ message: `${what}: ${error.message}` })
