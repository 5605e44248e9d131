import { Schema } from "effect"

/** A whole number; `expected` is what an error says of anything else, such as "a number of seconds". */
export const wholeNumber = (expected: string) => Schema.Number.check(Schema.isInt({ expected }))
