/** Statistics of measurements. */

/**
 * The median; for an even number of values, the upper of the two middle values. NaN if there are
 * none.
 */
export const median = (numbers: ReadonlyArray<number>): number => quantile(sorted(numbers), 0.5)

export const sorted = (numbers: ReadonlyArray<number>): ReadonlyArray<number> =>
  numbers.toSorted((left, right) => left - right)

/** The value at this quantile of sorted numbers. */
export const quantile = (numbers: ArrayLike<number>, share: number): number =>
  numbers[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN

/**
 * Numbers in the order of their arrival, stored in a typed array, which the garbage collector does
 * not scan.
 */
export class Samples {
  #values = new Float64Array(1 << 14)
  #count = 0

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#count++] = value
  }

  get count(): number {
    return this.#count
  }

  sorted(): Float64Array {
    return this.#values.slice(0, this.#count).sort()
  }
}
