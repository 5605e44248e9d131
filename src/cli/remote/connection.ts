/** The gateway that a command calls, and the token it uses. */
import { Config, Effect, FileSystem, Option, Redacted, Schema } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { layer, MediaGateway } from "../../client/typedClient.ts"
import { readStoredAdminToken, readStoredDemoKey } from "../../secrets.ts"
import { CommandFailure, failureOf, toCommandFailure } from "../failures.ts"

const GatewayAddress = GlobalFlag.Setting("gateway")({
  flag: Flag.String("gateway").pipe(
    Flag.withMetavar("<address>"),
    Flag.withDescription("Address of the gateway; GATEWAY_URL, else http://127.0.0.1:8080"),
    Flag.optional
  )
})

const TokenFile = GlobalFlag.Setting("token-file")({
  flag: Flag.File("token-file", { mustExist: true }).pipe(
    Flag.withDescription(
      "File of an operator's token or an API key; else GATEWAY_ADMIN_TOKEN or GATEWAY_KEY, and for " +
        "a gateway of this machine what DATA_DIR keeps"
    ),
    Flag.optional
  )
})

/** The flags of commands that call a gateway. */
export const remoteFlags = [GatewayAddress, TokenFile] as const

const environment = Config.all({
  url: Config.option(Config.String("GATEWAY_URL")),
  admin: Config.option(Config.Redacted("GATEWAY_ADMIN_TOKEN")),
  key: Config.option(Config.Redacted("GATEWAY_KEY")),
  dataDir: Config.String("DATA_DIR").pipe(Config.withDefault(".data"))
})

/** The gateway's address, without a trailing slash. */
export const gatewayAddress = Effect.gen(function* () {
  const { url } = yield* environment
  const configuredUrl = Option.orElse(yield* GatewayAddress, () => url)
  const address = Option.getOrElse(configuredUrl, () => "http://127.0.0.1:8080").replace(/\/+$/, "")
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? "")) {
    return yield* new CommandFailure({
      message: `${address} is no address of a gateway: expected one such as http://127.0.0.1:8080`
    })
  }
  return address
})

const isLocal = (address: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(URL.parse(address)?.hostname ?? "")

const notEmpty = (token: Option.Option<Redacted.Redacted>) =>
  Option.filter(token, (value) => Redacted.value(value) !== "")

const isKey = (token: Redacted.Redacted): boolean => Redacted.value(token).startsWith("mg_")

/**
 * The tokens from the file or the environment; otherwise, for a local gateway, those stored in
 * `DATA_DIR`.
 */
export const tokens = Effect.gen(function* () {
  const { admin, key, dataDir } = yield* environment
  const file = yield* TokenFile
  if (Option.isSome(file)) {
    const files = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(files.readFileString(file.value), failureOf(file.value))
    const token = Redacted.make(text.trim())
    return isKey(token) ? { admin: null, key: token } : { admin: token, key: null }
  }
  const configuredUrl = {
    admin: Option.getOrNull(notEmpty(admin)),
    key: Option.getOrNull(notEmpty(key))
  }
  if (configuredUrl.admin !== null || configuredUrl.key !== null || !isLocal(yield* gatewayAddress))
    return configuredUrl
  const readStored = <A, R>(read: Effect.Effect<A, Error, R>) =>
    Effect.mapError(read, ({ message }) => new CommandFailure({ message }))
  return {
    admin: yield* readStored(readStoredAdminToken(dataDir)),
    key: yield* readStored(readStoredDemoKey(dataDir))
  }
})

export type Gateway = MediaGateway["Service"]

/** A client of the gateway, with the gateway's address and the token in use. */
export interface Remote {
  readonly gateway: Gateway
  readonly address: string
  readonly token: Redacted.Redacted
}

const connect = Effect.fnUntraced(function* (token: Redacted.Redacted) {
  const address = yield* gatewayAddress
  const gateway = yield* MediaGateway.pipe(
    Effect.provide(layer({ baseUrl: address, apiKey: token, adminToken: token }))
  )
  return { gateway, address, token }
})

const missingVariable = (name: string) =>
  new CommandFailure({ message: `${name} is not set: set it, or name a file by --token-file` })

/** Calls the gateway as an operator. The message of a failure names the gateway's address. */
export const asOperator = Effect.fnUntraced(function* <A, E, R>(
  use: (remote: Remote) => Effect.Effect<A, E, R>
) {
  const { admin } = yield* tokens
  if (admin === null) return yield* missingVariable("GATEWAY_ADMIN_TOKEN")
  const remote = yield* connect(admin)
  return yield* Effect.mapError(use(remote), toCommandFailure(remote.address))
})

/** Calls the gateway as the holder of an API key. */
export const asMember = Effect.fnUntraced(function* <A, E, R>(
  use: (remote: Remote) => Effect.Effect<A, E, R>
) {
  const { key } = yield* tokens
  if (key === null) return yield* missingVariable("GATEWAY_KEY")
  const remote = yield* connect(key)
  return yield* Effect.mapError(use(remote), toCommandFailure(remote.address))
})

/**
 * Calls the gateway as an operator where an operator's token is configured, otherwise as the holder
 * of an API key.
 */
export const asMemberOrOperator = Effect.fnUntraced(function* <A, E, R, A2, E2, R2>(
  operator: (remote: Remote) => Effect.Effect<A, E, R>,
  member: (remote: Remote) => Effect.Effect<A2, E2, R2>
) {
  const { admin, key } = yield* tokens
  if (admin !== null) return yield* asOperator(operator)
  if (key !== null) return yield* asMember(member)
  return yield* missingVariable("Neither GATEWAY_ADMIN_TOKEN nor GATEWAY_KEY")
})

const Refusal = Schema.Struct({
  error: Schema.Struct({
    message: Schema.String,
    code: Schema.String,
    param: Schema.NullOr(Schema.String)
  })
})

/** Reads a path in a content type other than JSON. */
export const readAs = (
  { address, token }: Pick<Remote, "address" | "token">,
  path: string,
  accept: string
) =>
  Effect.gen(function* () {
    const http = yield* HttpClient.HttpClient
    const url = URL.parse(path, address)?.href ?? address
    const response = yield* http
      .execute(
        HttpClientRequest.get(url, { headers: { accept } }).pipe(
          HttpClientRequest.bearerToken(Redacted.value(token))
        )
      )
      .pipe(Effect.mapError(toCommandFailure(address)))
    if (response.status < 300) return response
    const refusal = yield* HttpClientResponse.schemaBodyJson(Refusal)(response).pipe(Effect.option)
    const reason = Option.match(refusal, {
      onNone: () => "",
      onSome: ({ error }) => `: ${error.message} (${error.code})`
    })
    return yield* new CommandFailure({ message: `${url} answered ${response.status}${reason}` })
  })
