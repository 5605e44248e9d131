/** Ids in paths, filters of operators' lists, and totals over every entry that matches the filters. */
import { Effect, Schema } from "effect"
import { plainText } from "../../../domain/plainText.ts"
import { list, TIME_FORMAT, text } from "../shared.ts"

export const idParams = (owner: string) => ({
  id: plainText().annotate({ description: `The ${owner}'s id` })
})

export const idFilter = (owner: string) =>
  Schema.optionalKey(plainText().annotate({ description: `Only those of this ${owner}` }))

export const stateFilter = <const States extends ReadonlyArray<string>>(states: States) =>
  Schema.optionalKey(
    Schema.Literals(states).annotate({ description: "Only those that stand like this" })
  )

export const nameFilter = {
  name: Schema.optionalKey(
    plainText().annotate({
      description: "Only those whose names begin like this, in capital or small letters"
    })
  )
}

export const timeQuery = {
  from: Schema.optionalKey(
    plainText().annotate({ description: `Only those of then or later. ${TIME_FORMAT}` })
  ),
  to: Schema.optionalKey(
    plainText().annotate({
      description: `Only those before: a day is included, a time is not. ${TIME_FORMAT}`
    })
  )
}

export const totalsQuery = {
  totals: Schema.Literals(["true", "false"])
    .annotate({ description: "Whether `totals` of all that the filters leave is told as well" })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("false" as const)))
}

export const listWithTotals = <S extends Schema.Top, T extends Schema.Top>(entry: S, totals: T) =>
  Schema.Struct({
    ...list(entry).fields,
    totals: Schema.optionalKey(
      totals.annotate({ description: "Of all that the filters leave, where it was asked for" })
    )
  })

export const currency = text("Currency of the amounts")
