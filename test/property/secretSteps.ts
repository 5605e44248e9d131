/**
 * What operators do to channels and their keys, drawn at random, and a model of what may come of it: each
 * key has the origin that it was given for, told by the table of addresses and not by the code under test.
 */
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import type { Dice } from "../support/randomOrders.ts"

type Catalog = typeof CatalogWrite.Encoded
export type ChannelJson = Catalog["channels"][number]

/** Spellings of a base address, by where they lead. */
export type Addresses = Readonly<Record<string, readonly [string, ...ReadonlyArray<string>]>>

export const addresses: Addresses = {
  vendor: [
    "https://vendor.example",
    "https://vendor.example/",
    "HTTPS://VENDOR.example/v1",
    "https://vendor.example:443/other/tenant",
    "https://Vendor%2Eexample",
    "https://vendor。example"
  ],
  "vendor over http": ["http://vendor.example", "http://vendor.example:80/v1"],
  "vendor on a port": ["https://vendor.example:8443", "https://VENDOR.EXAMPLE:08443/v1"],
  "vendor with a dot": ["https://vendor.example.", "https://vendor.example.:443/v1"],
  "below vendor": ["https://api.vendor.example"],
  "in the path": [
    "https://thief.example/vendor.example",
    "https://thief.example/https://vendor.example"
  ],
  "beside vendor": ["https://vendor.example.thief.example"],
  lookalike: ["https://vendоr.example", "https://xn--vendr-mye.example/v1"],
  umlaut: [
    "https://bücher.example",
    "https://xn--bcher-kva.example:443",
    "https://BÜCHER.example/v1"
  ],
  loopback: ["http://127.0.0.1:8081", "http://0x7f.1:8081/v1", "http://2130706433:8081"],
  "loopback by name": ["http://localhost:8081"],
  "loopback of six": ["http://[::1]:8081", "http://[0:0:0:0:0:0:0:1]:8081/v1"]
}

/** Where each spelling leads. */
const placesOf = (table: Addresses): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([place, all]) => all.map((address) => [address, place])))

interface Account {
  readonly address: string
  readonly place: string
  readonly appId: string | null
  /** Values by the names of the keys. */
  readonly keys: Map<string, string>
}

const NAMES = ["default", "a", "b"] as const

export const makeSecretsModel = (table: Addresses, channelIds: ReadonlyArray<string>) => {
  const places = placesOf(table)
  /** Where each secret was given for. */
  const givenFor = new Map<string, string>()
  /** The newest last; that of a channel which left the catalog stays. */
  const accounts = new Map<string, Array<Account>>()
  let listed = new Map<string, ChannelJson>()
  let minted = 0

  const placeOf = (address: string): string => {
    const place = places.get(address)
    if (place === undefined) throw new Error(`${address} is not in the table`)
    return place
  }

  const drawAddress = (dice: Dice, before: string | undefined): string => {
    const all = Object.values(table)
    const [first, ...others] = all
    if (first === undefined) throw new Error("the table is empty")
    // Mostly in its place, in another spelling: moves are tried as often.
    const same = before === undefined ? undefined : table[placeOf(before)]
    return dice.pick(same !== undefined && dice.chance(50) ? same : dice.pick([first, ...others]))
  }

  const drawValue = (dice: Dice, keepPercent: number) =>
    dice.chance(keepPercent)
      ? dice.pick([{}, { api_key: null }])
      : { api_key: `secret-${minted++}-${dice.roll(2 ** 30)}` }

  const drawChannel = (dice: Dice, id: string): ChannelJson => {
    const before = accounts.get(id)?.at(-1)
    const base_url = drawAddress(dice, before?.address)
    const keepPercent = before === undefined ? 10 : 60
    const enabled = dice.chance(85)
    const common = { id, name: id, base_url, app_id: dice.pick([null, null, "app-1"]), enabled }
    if (dice.chance(50)) return { ...common, ...drawValue(dice, keepPercent) }
    const named = NAMES.filter(() => dice.chance(60))
    const api_keys = named.map((name) => ({
      name,
      enabled: dice.chance(80),
      ...drawValue(dice, keepPercent)
    }))
    const own = named.includes("default") || dice.chance(60) ? {} : drawValue(dice, 30)
    return { ...common, ...own, api_keys }
  }

  /** Every key of a channel that is written, with the path of its value. */
  const writtenKeys = ({ api_key = null, api_keys = [] }: ChannelJson) => [
    ...(api_keys.length === 0 || api_key !== null
      ? [{ name: "default", value: api_key, path: "api_key" }]
      : []),
    ...api_keys.map(({ name, api_key: value = null }, index) => ({
      name,
      value,
      path: `api_keys[${index}].api_key`
    }))
  ]

  /** The keys that are written, and those of before that go to the same place. */
  const keysAfter = (channel: ChannelJson, place: string, before: Account | undefined) => {
    const keys = new Map<string, string>()
    for (const { name, value } of writtenKeys(channel)) {
      const stored = before?.place === place ? before.keys.get(name) : undefined
      const secret = value ?? stored
      if (secret !== undefined) keys.set(name, secret)
      if (value !== null) givenFor.set(value, place)
    }
    return keys
  }

  const dropKeys = (keys: Map<string, string>, names: ReadonlySet<string>): void => {
    for (const name of keys.keys()) if (!names.has(name)) keys.delete(name)
  }

  return {
    givenFor,
    placeOf,
    /** A catalog of some of the channels, each as it was or written anew. */
    drawCatalog: (dice: Dice): ReadonlyArray<ChannelJson> =>
      channelIds.flatMap((id) => {
        const before = listed.get(id)
        if (dice.chance(before === undefined ? 30 : 15)) return []
        return before !== undefined && dice.chance(25) ? [before] : [drawChannel(dice, id)]
      }),
    /** The paths of the keys that would go elsewhere than they were given for. */
    faults: (channels: ReadonlyArray<ChannelJson>): ReadonlyArray<string> =>
      channels.flatMap((channel, index) => {
        const stored = accounts.get(channel.id)?.at(-1)
        if (stored === undefined || stored.place === placeOf(channel.base_url)) return []
        return writtenKeys(channel).flatMap(({ name, value, path }) =>
          value === null && stored.keys.has(name) ? [`channels[${index}].${path}`] : []
        )
      }),
    /** What stands once the catalog is in force. */
    apply: (channels: ReadonlyArray<ChannelJson>): void => {
      for (const channel of channels) {
        const { id, base_url: address, app_id: appId = null } = channel
        const all = accounts.get(id) ?? []
        const place = placeOf(address)
        const keys = keysAfter(channel, place, all.at(-1))
        const names = new Set(writtenKeys(channel).map(({ name }) => name))
        for (const one of all) if (one.place === place) dropKeys(one.keys, names)
        all.push({ address, place, appId, keys })
        accounts.set(id, all)
      }
      listed = new Map(
        channels.map(({ api_key: _, api_keys, ...channel }) => {
          const named = api_keys?.map(({ api_key: __, ...key }) => key)
          return [channel.id, named === undefined ? channel : { ...channel, api_keys: named }]
        })
      )
    },
    /** Whether the channel has a key left for what was made there. */
    isAskable: (id: string, place: string): boolean =>
      accounts.get(id)?.some((one) => one.place === place && one.keys.size > 0) === true,
    /** The account that orders of the channel are made with now. */
    current: (id: string) => accounts.get(id)?.at(-1)
  }
}
