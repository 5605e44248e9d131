/** One model of each kind on four accounts of one vendor, and what goes wrong at each. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { type Customer, Gateway } from "./gateway.ts"
import { call, type HttpAnswer } from "./http.ts"
import { orderImages, orderVideo } from "./orders.ts"
import { TALK_PRICES, talk } from "./textCatalog.ts"
import { ask } from "./texts.ts"

type Catalog = typeof CatalogWrite.Encoded

/** Last letters of their keys, by which the vendor's book names them; in the order of their priority. */
export const accounts = ["aaaa", "bbbb", "cccc", "dddd"] as const
export type Account = (typeof accounts)[number]

const vendors = {
  vp_d: { id: "clip-1", modality: "video", protocol: "vp_d", path: "vp_d" },
  ip_a: { id: "paint-1", modality: "image", protocol: "ip_a", path: "ip_a/v1" },
  openai: { id: "talk-1", modality: "chat", protocol: "openai", path: "openai/v1" }
} as const

const prices = {
  vp_d: { kind: "second_video", per_second: { "720p": "0.6" } },
  ip_a: { kind: "image", per_image: "0.2" },
  openai: TALK_PRICES
} as const

const protocols = ["vp_d", "ip_a", "openai"] as const

export const channelOf = (protocol: string, account: string): string => `${protocol}-${account}`

/** `unreachable` are accounts at whose address nothing listens. */
export const failoverCatalog =
  (unreachable: ReadonlyArray<Account> = []) =>
  (simulatorUrl: string): Catalog => ({
    channels: protocols.flatMap((protocol) =>
      accounts.map((account) => ({
        id: channelOf(protocol, account),
        name: account,
        base_url: unreachable.includes(account)
          ? "http://127.0.0.1:9"
          : `${simulatorUrl}/${vendors[protocol].path}`,
        api_key: `vendor-key-${account}`
      }))
    ),
    models: protocols.map((protocol) => {
      const { path: _, ...model } = vendors[protocol]
      return { ...model, prices: prices[protocol] }
    }),
    mounts: protocols.flatMap((protocol) =>
      accounts.map((account, priority) => ({
        model: vendors[protocol].id,
        channel: channelOf(protocol, account),
        upstream_model: `vendor-${vendors[protocol].id}`,
        priority
      }))
    )
  })

/** Every request of the account goes wrong in these words of a prompt; none make it well again. */
export const trouble = (account: Account, switches: string) =>
  Effect.gen(function* () {
    const { simulator } = yield* Gateway
    const key = `vendor-key-${account}`
    const answer = yield* call(`${simulator.url}/_sim/accounts/${key}`, {
      method: "PUT",
      json: { switches }
    })
    assert.strictEqual(answer.status, 204, answer.text)
  })

export interface Kind {
  readonly name: string
  readonly protocol: (typeof protocols)[number]
  /** What is charged for `order`. */
  readonly order: (who: Customer, prompt: string) => Effect.Effect<HttpAnswer, never, Gateway>
}

export const kinds: ReadonlyArray<Kind> = [
  {
    name: "video",
    protocol: "vp_d",
    order: (who, prompt) => orderVideo(who, { model: "clip-1", prompt })
  },
  {
    name: "image",
    protocol: "ip_a",
    order: (who, prompt) => orderImages(who, { model: "paint-1", prompt })
  },
  { name: "chat", protocol: "openai", order: (who, prompt) => ask(who, talk(prompt)) },
  {
    name: "stream",
    protocol: "openai",
    order: (who, prompt) => ask(who, talk(prompt, { stream: true }))
  }
]
