/**
 * Replaces the clock, the timers, the randomness, and the asynchronous cipher and compression of this
 * process by simulated ones. It must be imported before any other module, because modules keep what
 * they find, and the embedded database reads this clock and this randomness as well.
 */
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
import zlib from "node:zlib"
import { Generator } from "./generator.ts"

/** The earliest time at which a world begins. */
export const START_MILLIS = Date.UTC(2027, 0, 1)
export const DAY_MILLIS = 24 * 3_600_000

interface Timer {
  readonly atMillis: number
  readonly ring: () => void
}

/** The simulated time, which stands still until somebody moves it. */
class SimulatedTime {
  nowMillis = START_MILLIS
  private lastId = 0
  private readonly timers = new Map<number, Timer>()
  private isDeaf = false

  reset(nowMillis: number): void {
    this.nowMillis = nowMillis
    this.lastId = 0
    this.timers.clear()
  }

  /** Moves the time on without the timers of that time, as a machine does that wakes up. */
  jump(millis: number): void {
    this.nowMillis += Math.max(0, millis)
  }

  /** Milliseconds since the beginning of all worlds. */
  elapsed(): number {
    return this.nowMillis - START_MILLIS
  }

  set(delayMillis: number, ring: () => void): number {
    if (this.isDeaf) return this.lastId
    this.lastId += 1
    // Whole milliseconds, as timers of the real clock have them.
    const atMillis = this.nowMillis + Math.max(0, Math.ceil(delayMillis))
    this.timers.set(this.lastId, { atMillis, ring })
    return this.lastId
  }

  cancel(id: number): void {
    if (!this.isDeaf) this.timers.delete(id)
  }

  /** Runs what may set and cancel timers of its own, which are never to ring. */
  withoutTimers(run: () => void): void {
    this.isDeaf = true
    try {
      run()
    } finally {
      this.isDeaf = false
    }
  }

  /**
   * Moves the time to the next timer, and returns the timers that ring then, in the order in which
   * they were set; empty where there is none.
   */
  advance(): ReadonlyArray<() => void> {
    let nextMillis = Number.POSITIVE_INFINITY
    for (const { atMillis } of this.timers.values()) nextMillis = Math.min(nextMillis, atMillis)
    if (nextMillis === Number.POSITIVE_INFINITY) return []
    this.nowMillis = Math.max(this.nowMillis, nextMillis)
    const due = [...this.timers].filter(([, { atMillis }]) => atMillis === nextMillis)
    for (const [id] of due) this.timers.delete(id)
    return due.map(([, { ring }]) => ring)
  }
}

export const time = new SimulatedTime()

/** The randomness of all code that asks this process for random numbers. */
export const randomness = new Generator(0)

const realSetImmediate = setImmediate

/** Resolves when no promise of this process is left that can go on without the simulated time. */
export const promisesAtRest = (): Promise<void> =>
  new Promise((resolve) => {
    realSetImmediate(resolve)
  })

const RealDate = Date

/** The constructor of dates; `new Date()` is the simulated time. */
const SimulatedDate = new Proxy(RealDate, {
  construct: (target, values: ReadonlyArray<unknown>, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [time.nowMillis] : values, newTarget),
  get: (target, name, receiver) =>
    name === "now" ? () => time.nowMillis : Reflect.get(target, name, receiver)
})

/** What a timer function returns, as far as it is used. */
class TimerHandle {
  private readonly id: number
  constructor(id: number) {
    this.id = id
  }
  cancel(): void {
    time.cancel(this.id)
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
}

type Ring = (...values: ReadonlyArray<unknown>) => void
const cancel = (handle: unknown): void => {
  if (handle instanceof TimerHandle) handle.cancel()
}

const replace = (target: object, values: Readonly<Record<string, unknown>>): void => {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(target, name, { value, configurable: true, writable: true })
  }
}

const randomUuid = (): string => {
  const hex = randomness.fill(Buffer.alloc(16)).toString("hex")
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20)
  ].join("-")
}

interface GcmParameters {
  readonly iv: Uint8Array
  readonly additionalData?: Uint8Array
}
const TAG_BYTES = 16

/**
 * AES-GCM as `crypto.subtle` has it. The real one works on other threads, and which of two of its
 * answers comes first is nobody's choice.
 */
const cipher = {
  encrypt: (
    { iv, additionalData }: GcmParameters,
    key: crypto.webcrypto.CryptoKey,
    data: Uint8Array
  ): Promise<ArrayBuffer> => {
    const gcm = crypto.createCipheriv("aes-256-gcm", crypto.KeyObject.from(key), iv)
    if (additionalData !== undefined) gcm.setAAD(additionalData)
    const bytes = Buffer.concat([gcm.update(data), gcm.final(), gcm.getAuthTag()])
    return Promise.resolve(new Uint8Array(bytes).buffer)
  },
  decrypt: async (
    { iv, additionalData }: GcmParameters,
    key: crypto.webcrypto.CryptoKey,
    data: Uint8Array
  ): Promise<ArrayBuffer> => {
    const gcm = crypto.createDecipheriv("aes-256-gcm", crypto.KeyObject.from(key), iv)
    if (additionalData !== undefined) gcm.setAAD(additionalData)
    const end = data.length - TAG_BYTES
    gcm.setAuthTag(data.subarray(end))
    return new Uint8Array(Buffer.concat([gcm.update(data.subarray(0, end)), gcm.final()])).buffer
  }
}

/** Compression works on other threads too. */
const deflate = (
  data: Uint8Array,
  options: zlib.ZlibOptions,
  end: (error: null, bytes: Buffer) => void
): void => end(null, zlib.deflateSync(data, options))

replace(globalThis, { Date: SimulatedDate })
/** Numbers for the hashes of objects, which no world depends on. */
const hashes = new Generator(1)
replace(Math, { random: () => hashes.fraction() })
replace(performance, { now: () => time.elapsed() })
replace(process, {
  hrtime: Object.assign(() => [Math.floor(time.elapsed() / 1000), 0], {
    bigint: () => BigInt(Math.round(time.elapsed() * 1_000_000))
  })
})
replace(globalThis.crypto.subtle, cipher)
replace(globalThis.crypto, {
  getRandomValues: <A extends NodeJS.ArrayBufferView>(view: A) => randomness.fill(view),
  randomUUID: randomUuid
})
replace(crypto, {
  randomUUID: randomUuid,
  randomFillSync: <A extends NodeJS.ArrayBufferView>(view: A) => randomness.fill(view),
  randomBytes: (size: number) => randomness.fill(Buffer.alloc(size)),
  randomInt: (first: number, second?: number) =>
    second === undefined ? randomness.below(first) : randomness.between(first, second - 1)
})
replace(zlib, { deflate })
syncBuiltinESMExports()

/**
 * Replaces the timers. What loads before it, such as the embedded database, still needs the real
 * ones.
 */
export const replaceTimers = (): void =>
  replace(globalThis, {
    setTimeout: (ring: Ring, delayMillis = 0, ...values: ReadonlyArray<unknown>) =>
      new TimerHandle(time.set(delayMillis, () => ring(...values))),
    setImmediate: (ring: Ring, ...values: ReadonlyArray<unknown>) =>
      new TimerHandle(time.set(0, () => ring(...values))),
    setInterval: () => {
      throw new Error("a simulated world has no intervals")
    },
    clearTimeout: cancel,
    clearImmediate: cancel,
    clearInterval: cancel
  })
