/** What goes out to a vendor: an address, our headers, and JSON. No header of a client is among them. */
import { Redacted } from "effect"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"

export interface VendorRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Written as JSON when it is sent; null where there is no body. */
  readonly body: object | null
}

type Headers = VendorRequest["headers"]

/** The key as most vendors take it. */
export const bearer = (account: ChannelAccount): Headers => ({
  authorization: `Bearer ${Redacted.value(account.apiKey)}`
})

export const get = (url: string, headers: Headers): VendorRequest => ({
  method: "GET",
  url,
  headers,
  body: null
})

export const post = (url: string, headers: Headers, body: object): VendorRequest => ({
  method: "POST",
  url,
  headers: { ...headers, "content-type": "application/json" },
  body
})
