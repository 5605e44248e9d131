/** Addresses of media in requests, whatever is ordered. */
import { Schema } from "effect"

/** In one field: more than any vendor takes; each has limits of its own, which it tells itself. */
export const MAX_MEDIA = 16

/** One pattern for all of it would take ten times as long for large media. */
const isMediaUrl = (text: string): boolean =>
  (/^https?:\/\/./i.test(text) || (/^data:/i.test(text) && text.includes(","))) && !/\s/.test(text)

/** http, https or data: the gateway hands addresses on and never fetches them. */
export const MediaUrl = Schema.String.check(
  Schema.makeFilter(isMediaUrl, {
    expected: "an http, https or data URL",
    // Without it the description below is left out of the contract.
    toJsonSchema: () => [{}, true]
  })
).annotate({ description: "http, https or data URL" })

const MediaObject = Schema.Struct({ url: MediaUrl })
export const MediaRef = Schema.Union([MediaUrl, MediaObject]).annotate({
  description: "A URL, or {url}",
  expected: "a URL or {url}"
})
const MediaList = Schema.Array(MediaRef).check(
  Schema.isMaxLength(MAX_MEDIA, { expected: `at most ${MAX_MEDIA} of them` })
)
/** A URL, `{url}` or an array of either. */
export const Media = Schema.Union([MediaRef, MediaList])
export type Media = typeof Media.Type

export const urlOf = (media: string | typeof MediaObject.Type): string =>
  typeof media === "string" ? media : media.url

/** The addresses in their order; none when nothing was given. */
export const mediaUrls = (media: Media | null | undefined): ReadonlyArray<string> =>
  [media ?? []].flat().map(urlOf)
