/** What a schema finds wrong with a document, by path and in the words of this interface. */
import { SchemaIssue } from "effect"
import type { FieldFault } from "./requestFields.ts"

/** What is said of a field in place of the library's words. */
const words: Readonly<Record<string, string>> = {
  MissingKey: "This field is required",
  UnexpectedKey: "There is no such field"
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => words[issue._tag] ?? SchemaIssue.defaultLeafHook(issue)
})

/** `content[0].image_url`, as a client would write it. */
const formatPath = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path
    .map((segment) => (typeof segment === "object" ? segment.key : segment))
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "")

export const issueFaults = (issue: SchemaIssue.Issue): ReadonlyArray<FieldFault> =>
  formatIssue(issue).issues.map(({ path = [], message }) => ({ path: formatPath(path), message }))
