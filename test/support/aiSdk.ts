/** The AI SDK's provider for the gateway under test, and networks that lose what it answers. */
import { Effect } from "effect"
import {
  createMediaGateway,
  type MediaGatewayProvider,
  type MediaGatewaySettings
} from "../../src/ai-sdk/provider.ts"
import { type Customer, Gateway } from "./gateway.ts"
import { textCatalog } from "./textCatalog.ts"

/** Texts, images of two protocols, and videos of two vendors; `paint-held` is of a vendor elsewhere. */
export const sdkCatalog = (
  simulatorUrl: string,
  elsewhere = "http://127.0.0.1:9"
): ReturnType<ReturnType<typeof textCatalog>> => {
  const { channels, models, mounts } = textCatalog(elsewhere)(simulatorUrl)
  const prices = { kind: "image", per_image: "0.2" } as const
  return {
    channels: [
      ...channels,
      { id: "ch-b", name: "B", base_url: `${simulatorUrl}/ip_b`, api_key: "vendor-key-b" }
    ],
    models: [
      ...models,
      { id: "paint-b", modality: "image", protocol: "ip_b", prices },
      { id: "paint-held", modality: "image", protocol: "ip_a", prices }
    ],
    mounts: [
      ...mounts,
      { model: "paint-b", channel: "ch-b", upstream_model: "vendor-paint-b" },
      { model: "paint-held", channel: "ch-held", upstream_model: "vendor-paint-held" }
    ]
  }
}

type Fetch = typeof globalThis.fetch

interface Sent {
  readonly method: string
  readonly path: string
  readonly key: string | null
  readonly authorization: string | null
  /** Of JSON, the value; of a form, its fields. */
  readonly body: unknown
}

const bodyOf = async (request: Request): Promise<unknown> => {
  const type = request.headers.get("content-type") ?? ""
  if (type.startsWith("multipart/")) return [...(await request.formData()).keys()]
  return type.startsWith("application/json") ? request.json() : null
}

/** A provider with a customer's key, and what it sends; `network` may do to it what networks do. */
export const sdkOf = Effect.fnUntraced(function* (
  who: Customer,
  network: (fetch: Fetch) => Fetch = (fetch) => fetch,
  settings: MediaGatewaySettings = {}
) {
  const { url } = yield* Gateway
  const sent: Array<Sent> = []
  const recorded: Fetch = async (input, init) => {
    const request = new Request(input, init)
    const { headers, method } = request
    sent.push({
      method,
      path: new URL(request.url).pathname,
      key: headers.get("idempotency-key"),
      authorization: headers.get("authorization"),
      body: await bodyOf(request.clone())
    })
    return globalThis.fetch(request)
  }
  const provider: MediaGatewayProvider = createMediaGateway({
    baseURL: url,
    apiKey: who.key,
    fetch: network(recorded),
    ...settings
  })
  return { provider, sent, orders: () => sent.filter(({ method }) => method === "POST") }
})

export const lostConnection = () =>
  new TypeError("fetch failed", {
    cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })
  })

/** The first answers to orders are lost after the gateway has given them. */
export const losing =
  (times: number) =>
  (fetch: Fetch): Fetch => {
    let left = times
    return async (input, init) => {
      const response = await fetch(input, init)
      if (init?.method !== "POST" || left === 0) return response
      left -= 1
      await response.arrayBuffer()
      throw lostConnection()
    }
  }

/** The first answer to an order breaks off in its body. */
export const cutting = (fetch: Fetch): Fetch => {
  let isCut = false
  return async (input, init) => {
    const response = await fetch(input, init)
    if (init?.method !== "POST" || isCut) return response
    isCut = true
    const bytes = new Uint8Array(await response.arrayBuffer())
    const body = new ReadableStream({
      pull: (controller) => {
        controller.enqueue(bytes.subarray(0, 4))
        controller.error(lostConnection())
      }
    })
    return new Response(body, { status: response.status, headers: response.headers })
  }
}

/** A proxy in front answers the first order with a page of its own. */
export const behindProxy = (fetch: Fetch): Fetch => {
  let isOver = false
  return async (input, init) => {
    const response = await fetch(input, init)
    if (init?.method !== "POST" || isOver) return response
    isOver = true
    await response.arrayBuffer()
    return new Response("<h1>Bad gateway</h1>", {
      status: 502,
      headers: { "content-type": "text/html" }
    })
  }
}
