/** A generator of random numbers that are the same for the same seed: xoshiro128**. */

const WORD = 2 ** 32

/** The words of a seed, by splitmix32, so that near seeds have nothing in common. */
const wordsOf = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let word = state
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad)
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97)
    return (word ^ (word >>> 15)) >>> 0
  }
}

const rotate = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits))

export class Generator {
  private a = 0
  private b = 0
  private c = 0
  private d = 0
  /** How often bytes were asked for. */
  fillCount = 0

  constructor(seed: number) {
    this.reset(seed)
  }

  reset(seed: number): void {
    const next = wordsOf(seed)
    this.a = next()
    this.b = next()
    this.c = next()
    this.d = next()
  }

  private word(): number {
    const result = Math.imul(rotate(Math.imul(this.b, 5), 7), 9) >>> 0
    const shifted = this.b << 9
    this.c ^= this.a
    this.d ^= this.b
    this.b ^= this.c
    this.a ^= this.d
    this.c ^= shifted
    this.d = rotate(this.d, 11)
    return result
  }

  /** At least 0 and less than 1. */
  fraction(): number {
    return this.word() / WORD
  }

  /** Any safe integer. */
  safeInteger(): number {
    const size = (this.word() & 0x1fffff) * WORD + this.word()
    return this.isHit(0.5) ? size : -size
  }

  /** A whole number from 0 to `count - 1`. */
  below(count: number): number {
    return Math.floor(this.fraction() * count)
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  isHit(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<A>(values: readonly [A, ...ReadonlyArray<A>]): A {
    return values[this.below(values.length)] ?? values[0]
  }

  fill<A extends NodeJS.ArrayBufferView>(view: A): A {
    this.fillCount += 1
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = this.word() & 255
    return view
  }
}
