/** The failures of commands: their messages, and the exit codes of the process. */
import { Predicate, Runtime, Schema } from "effect"
import { errorTable } from "../domain/errorTable.ts"
import { deepestReason } from "../runtime/deepestReason.ts"

/** The failure of a command; its `message` is printed. */
export class CommandFailure extends Schema.TaggedError<CommandFailure>()("CommandFailure", {
  message: Schema.String,
  /** The exit code of the process; 1 when left out. */
  exitCode: Schema.optionalKey(Schema.Int)
}) {
  override get [Runtime.errorExitCode]() {
    return this.exitCode ?? 1
  }
}

/** Ends the process with an exit code where the command has printed its result already. */
export class ExitWith extends Schema.TaggedError<ExitWith>()("ExitWith", { code: Schema.Int }) {
  override get [Runtime.errorExitCode]() {
    return this.code
  }
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

/** The text of a gateway error: message, code and field, then each fault on its own line. */
export const gatewayErrorText = (error: unknown): string | null => {
  if (!isGatewayErrorBody(error)) return null
  const param = error.param === null ? "" : `, ${error.param}`
  const faults = error.faults?.map(({ path, message }) => `\n  ${path}: ${message}`) ?? []
  return `${error.message} (${error._tag}${param})${faults.join("")}`
}

/** Turns the error of a call to the gateway at `address` into a message for the user. */
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

/**
 * Turns an error that does not come from a gateway into a failure; `what` is its subject, such as a
 * file name.
 */
export const failureOf = (subject: string) => (error: Error) =>
  new CommandFailure({ message: `${subject}: ${error.message}` })
