/** Parsing of typed amounts, without rounding. */
import { Result } from "effect"
import { parseNano } from "../../../domain/money/Money.ts"

/** The amount in billionths; null where the text is no amount. */
export const typedNano = (text: string): bigint | null =>
  Result.getOrElse(parseNano(text.trim()), () => null)

/** Whether the text is an amount above zero. */
export const isPositive = (text: string): boolean => (typedNano(text) ?? 0n) > 0n

const BYTES = 6

/**
 * Creates the idempotency reference of a form, with which submitting the form twice moves money
 * once.
 */
export const newReference = (): string =>
  `console-${[...crypto.getRandomValues(new Uint8Array(BYTES))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")}`
