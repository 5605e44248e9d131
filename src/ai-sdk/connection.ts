/** The connection to the gateway. All models of a provider share it. */
import {
  type FetchFunction,
  loadApiKey,
  loadOptionalSetting,
  loadSetting,
  withoutTrailingSlash,
  withUserAgentSuffix
} from "@ai-sdk/provider-utils"
import { paidFetch } from "./paidFetch.ts"

export interface MediaGatewaySettings {
  /** The gateway's address, with or without a trailing `/v1`; by default `GATEWAY_URL`. */
  readonly baseURL?: string
  /** An API key of the gateway; by default `GATEWAY_KEY`. */
  readonly apiKey?: string
  /** Headers that are sent with every request to the gateway. */
  readonly headers?: Readonly<Record<string, string>>
  /** A replacement for the global `fetch`, which also loads result files. */
  readonly fetch?: FetchFunction
  /**
   * Origins such as `http://minio.internal:9000` from which files are loaded although their
   * addresses are private. The gateway's own origin is always trusted.
   */
  readonly trustedOrigins?: ReadonlyArray<string>
}

export interface Connection {
  readonly url: (path: string) => string
  readonly headers: () => Record<string, string>
  /** The `fetch` for requests to the gateway, with idempotency keys and retries. */
  readonly fetch: FetchFunction
  /** The `fetch` for result files, at any origin. */
  readonly fileFetch: FetchFunction
  /** Whether a file may be loaded from this address although the address is private. */
  readonly trusts: (address: string) => boolean
}

/**
 * The prefix of the `provider` field of each model, and the name of this provider's options in
 * `providerOptions`.
 */
export const PROVIDER = "mediaGateway"

const description = "media-gateway"

const originOf = (address: string): string | null => URL.parse(address)?.origin ?? null

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const isLoopback = (address: string): boolean => loopback.test(URL.parse(address)?.hostname ?? "")

/**
 * Creates the connection. Environment variables are read when a model is used, not here, because
 * this module is often loaded before they are set.
 */
export const makeConnection = (settings: MediaGatewaySettings): Connection => {
  const base = () => {
    const configuredUrl = loadSetting({
      settingValue: loadOptionalSetting({
        settingValue: settings.baseURL,
        environmentVariableName: "GATEWAY_URL"
      }),
      environmentVariableName: "GATEWAY_URL",
      settingName: "baseURL",
      description
    })
    const baseUrl = withoutTrailingSlash(configuredUrl.trim()) ?? ""
    return baseUrl.endsWith("/v1") ? baseUrl : `${baseUrl}/v1`
  }
  // `globalThis.fetch` is read at each call, because a program may replace the global `fetch`
  // later.
  const fileFetch = settings.fetch ?? ((input, init) => globalThis.fetch(input, init))
  return {
    url: (path) => `${base()}${path}`,
    headers: () =>
      withUserAgentSuffix(
        {
          Authorization: `Bearer ${loadApiKey({
            apiKey: settings.apiKey,
            environmentVariableName: "GATEWAY_KEY",
            description
          })}`,
          ...settings.headers
        },
        "media-gateway/ai-sdk"
      ),
    fetch: paidFetch(fileFetch),
    fileFetch,
    trusts: (address) => {
      const [gateway, origin] = [base(), originOf(address)]
      return (
        origin !== null &&
        (origin === originOf(gateway) ||
          (isLoopback(gateway) && isLoopback(address)) ||
          (settings.trustedOrigins ?? []).some(
            (trustedOrigin) => originOf(trustedOrigin) === origin
          ))
      )
    }
  }
}
