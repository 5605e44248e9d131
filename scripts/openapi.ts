/** Writes the OpenAPI document in the repository from the contract. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { OpenApi } from "effect/http-api"
import { ReferenceApi } from "../src/contract/ReferenceApi.ts"

writeFileSync(
  join(import.meta.dirname, "..", "test", "http", "openapi.json"),
  `${JSON.stringify(OpenApi.fromApi(ReferenceApi), null, 2)}\n`
)
