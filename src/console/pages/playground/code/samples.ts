/** What the code of every order is written with. */
import type { Order } from "../form/draft.ts"

export interface Sample {
  /** The gateway's address, without a trailing slash. */
  readonly origin: string
  readonly order: Order
  /** The idempotency key of this order: running the same code twice places one order. */
  readonly key: string
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/**
 * JSON as JavaScript, with the two line separators escaped that old parsers do not accept in
 * strings.
 */
export const script = (value: unknown, indent = ""): string =>
  JSON.stringify(value, null, 2)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    .replace(/^( *)"([A-Za-z_]\w*)":/gm, "$1$2:")
    .replaceAll("\n", `\n${indent}`)

export const omitFields = (body: Order["body"], ...names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))
