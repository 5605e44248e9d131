/**
 * Schemas of operators' lists: ids in paths, filters, and totals over every entry that matches the
 * filters.
 */
import { Effect, Schema } from "effect"
import { plainText } from "../../../domain/plainText.ts"
import { list, TIME_FORMAT, text } from "../shared.ts"

export const idParams = (owner: string) => ({
  id: plainText().annotate({ description: `The ${owner}'s id` })
})

export const idFilter = (owner: string) =>
  Schema.optionalKey(plainText().annotate({ description: `Only entries of this ${owner}` }))

export const stateFilter = <const States extends ReadonlyArray<string>>(states: States) =>
  Schema.optionalKey(
    Schema.Literals(states).annotate({ description: "Only entries in this state" })
  )

export const nameFilter = {
  name: Schema.optionalKey(
    plainText().annotate({
      description: "Only entries whose name begins with this, in capital or small letters"
    })
  )
}

export const timeQuery = {
  from: Schema.optionalKey(
    plainText().annotate({ description: `Only entries of this time or later. ${TIME_FORMAT}` })
  ),
  to: Schema.optionalKey(
    plainText().annotate({
      description: `Only entries before this time; a day is included. ${TIME_FORMAT}`
    })
  )
}

export const totalsQuery = {
  totals: Schema.Literals(["true", "false"])
    .annotate({
      description: "Whether the answer has `totals` over every entry that matches the filters"
    })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("false" as const)))
}

export const listWithTotals = <S extends Schema.Top, T extends Schema.Top>(entry: S, totals: T) =>
  Schema.Struct({
    ...list(entry).fields,
    totals: Schema.optionalKey(
      totals.annotate({
        description:
          "Totals over every entry that matches the filters, where the query has `totals=true`"
      })
    )
  })

export const currency = text("Currency of the amounts")
