/** The connection to the gateway, which all models of a provider share. */
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
  /** The gateway's address, with or without `/v1` at its end; `GATEWAY_URL` when left out. */
  readonly baseURL?: string
  /** A key of the gateway's; `GATEWAY_KEY` when left out. */
  readonly apiKey?: string
  /** Sent with every request to the gateway. */
  readonly headers?: Readonly<Record<string, string>>
  /** Used in place of the global one, also to load images. */
  readonly fetch?: FetchFunction
  /**
   * Origins such as `http://minio.internal:9000` whose files are loaded although their addresses are
   * private. Those of the gateway itself need no mention.
   */
  readonly trustedOrigins?: ReadonlyArray<string>
}

export interface Connection {
  readonly url: (path: string) => string
  readonly headers: () => Record<string, string>
  /** For requests to the gateway. */
  readonly fetch: FetchFunction
  /** For files, wherever they are. */
  readonly fileFetch: FetchFunction
  /** Whether a file may be loaded from there although the address is private. */
  readonly trusts: (address: string) => boolean
}

/** The first part of a model's `provider`, and the name of its options in `providerOptions`. */
export const PROVIDER = "mediaGateway"

const description = "media-gateway"

const originOf = (address: string): string | null => URL.parse(address)?.origin ?? null

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const isLoopback = (address: string): boolean => loopback.test(URL.parse(address)?.hostname ?? "")

/** The environment is read when a model is used, as a module is often loaded before it is set. */
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
    const trimmed = withoutTrailingSlash(configuredUrl.trim()) ?? ""
    return trimmed.endsWith("/v1") ? trimmed : `${trimmed}/v1`
  }
  // Another implementation may be put in place of the global one later.
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
          (settings.trustedOrigins ?? []).some((trusted) => originOf(trusted) === origin))
      )
    }
  }
}
