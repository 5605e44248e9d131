/** The texts of operations in the OpenAPI document. */
import { OpenApi } from "effect/http-api"

/** Annotates an operation with a short summary and a description. */
export const operation = (summary: string, description: string) =>
  OpenApi.annotations({ summary, description })
