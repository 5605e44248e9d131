import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { UpstreamError } from "../../src/domain/Errors.ts"
import { renameModel, renameModelInError } from "../../src/redaction/modelNames.ts"

const upstreamModel = "vendors-model-2.0-260128"
const names = { model: "film-1", upstreamModel }

const errorOf = (message: string, body: unknown) =>
  new UpstreamError({
    message,
    status: 400,
    upstream: { status: 400, body },
    retryable: false,
    unpaid: true,
    retryAfterSeconds: null
  })

describe("a vendor's name of a model", () => {
  it.each([
    ["model X is not there", "model film-1 is not there"],
    ["'X'.", "'film-1'."],
    ["x, X: no", "x, film-1: no"],
    ["X-fast", "X-fast"],
    ["my-X", "my-X"],
    ["X.1", "X.1"],
    ["models/X:generate", "models/film-1:generate"]
  ])("in %j", (text, expected) => {
    assert.strictEqual(
      renameModel(names, text.replaceAll("X", upstreamModel)),
      expected.replaceAll("X", upstreamModel)
    )
  })

  it("is a name of any letters, and stays where it is the client's own", () => {
    assert.strictEqual(renameModel({ model: "m", upstreamModel: "a(b)+" }, "no a(b)+ !"), "no m !")
    const error = errorOf(upstreamModel, { model: upstreamModel })
    assert.strictEqual(renameModelInError({ model: upstreamModel, upstreamModel }, error), error)
  })

  it.prop(
    "is nowhere in an error, whatever its vendor wrote",
    [Schema.Json, Schema.Array(Schema.Literals(["/", '"', " ", ":", "[", "，", "。", "("]))],
    ([value, around]) => {
      const planted = JSON.stringify(value).replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) =>
        JSON.stringify(`${text}${around.join("")} ${upstreamModel}${around[0] ?? ""}`)
      )
      const told = renameModelInError(names, errorOf(`no ${upstreamModel}`, JSON.parse(planted)))
      assert.notInclude(JSON.stringify(told), upstreamModel)
    }
  )
})
