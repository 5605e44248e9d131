/** CSV as a program reads it. */
import { Effect, Stream } from "effect"
import { Csv } from "effect/encoding"

/** Each line by the names of the first one. */
export const csvRows = (text: string) =>
  Effect.orDie(
    Stream.make(text).pipe(
      Stream.pipeThroughChannel(Csv.decodeString({ headers: true })),
      Stream.runCollect
    )
  )
