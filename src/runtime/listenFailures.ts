/** Why a server cannot listen, told with the variable that sets its port. */
import { Predicate, Schema } from "effect"

interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * It is a part of the error type of the layers that listen, so it is exported.
 * @public
 */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  message: Schema.String
}) {}

/** The code of Node's error; empty where it has none. */
export const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : ""

/** What is wrong with the address, by Node's error. */
export const listenProblem = (cause: unknown, { host, port }: ListenAddress): string =>
  codeOf(cause) === "EADDRINUSE"
    ? `Port ${port} of ${host} is taken by another program`
    : `Port ${port} of ${host} cannot be listened on (${codeOf(cause) || String(cause)})`

/** The failure to listen at an address that is set by `variables`, such as `PORT or HOST`. */
export const cannotListen = (
  cause: unknown,
  address: ListenAddress,
  variables: string
): CannotListen =>
  new CannotListen({
    message: `${listenProblem(cause, address)}: set ${variables} to another one`
  })
