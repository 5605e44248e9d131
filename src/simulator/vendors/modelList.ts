import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { VendorRoute } from "../Vendor.ts"

/**
 * The route that lists models in the common standard form (OpenAI's API), below the path of a
 * version. The list contains only some of the models that are served.
 */
export const modelsAt = (version: `/${string}`, ...ids: ReadonlyArray<string>): VendorRoute => ({
  method: "GET",
  path: `${version}/models`,
  handle: () =>
    Effect.succeed(
      HttpServerResponse.jsonUnsafe({
        object: "list",
        data: ids.map((id) => ({ id, object: "model" }))
      })
    )
})
