/** Amounts as people type them, read exactly. */
import { Result } from "effect"
import { parseNano } from "../../../domain/money/Money.ts"

/** Billionths; null where the text is no amount. */
export const typedNano = (text: string): bigint | null =>
  Result.getOrElse(parseNano(text.trim()), () => null)

/** Whether it is an amount that moves something. */
export const isPositive = (text: string): boolean => (typedNano(text) ?? 0n) > 0n

const BYTES = 6

/** By it a repeat of the same form moves nothing more. */
export const newReference = (): string =>
  `console-${[...crypto.getRandomValues(new Uint8Array(BYTES))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")}`
