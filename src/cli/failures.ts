/** What a command says when it cannot do what it was asked for, and the code it ends with. */
import { Predicate, Runtime, Schema } from "effect"
import { errorTable } from "../domain/errorTable.ts"

/** A command could not do its work, as `message` says. */
export class Failed extends Schema.TaggedError<Failed>()("Failed", {
  message: Schema.String,
  /** The code that the process ends with; 1 when left out. */
  exitCode: Schema.optionalKey(Schema.Int)
}) {
  override get [Runtime.errorExitCode]() {
    return this.exitCode ?? 1
  }
}

/** Everything was said already, and the process ends with the code. */
export class EndsWith extends Schema.TaggedError<EndsWith>()("EndsWith", { code: Schema.Int }) {
  override get [Runtime.errorExitCode]() {
    return this.code
  }
}

/** The words of the deepest cause: what is above says "fetch failed" and the like. */
export const deepestReason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.errors.length > 0) {
    return deepestReason(error.errors[0])
  }
  return error.cause === undefined || error.cause === null
    ? error.message
    : deepestReason(error.cause)
}

const Answered = Schema.Struct({
  _tag: Schema.Literals(Object.keys(errorTable)),
  message: Schema.String,
  param: Schema.NullOr(Schema.String),
  faults: Schema.optionalKey(
    Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
  )
})
const isAnswered = Schema.is(Answered)

/** An error of the gateway by its message, code and field, and every fault on a line of its own. */
export const answeredWords = (error: unknown): string | null => {
  if (!isAnswered(error)) return null
  const param = error.param === null ? "" : `, ${error.param}`
  const faults = error.faults?.map(({ path, message }) => `\n  ${path}: ${message}`) ?? []
  return `${error.message} (${error._tag}${param})${faults.join("")}`
}

/** Whatever a call of the gateway at the address came to, for a person to read. */
export const tellingOf =
  (address: string) =>
  (error: unknown): Failed => {
    if (error instanceof Failed) return error
    const answered = answeredWords(error)
    if (answered !== null) return new Failed({ message: answered })
    const reason = Predicate.hasProperty(error, "reason") ? error.reason : null
    return new Failed({
      message: Predicate.isTagged(reason, "TransportError")
        ? `The gateway at ${address} cannot be reached: ${deepestReason(error)}`
        : `The gateway at ${address} gave an answer that cannot be used: ${
            error instanceof Error ? error.message : String(error)
          }`
    })
  }

/** A failure of something else than a gateway, with what it was about. */
export const failedTo = (what: string) => (error: Error) =>
  new Failed({ message: `${what}: ${error.message}` })
