/** Webhooks in the OpenAPI document: the requests that a receiver gets. */
import { Record } from "effect"
import { sampleData } from "../../domain/webhookEvents.ts"

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" }
})

const headers = [
  header("webhook-id", "Of the message: the same however often it is sent"),
  header("webhook-timestamp", "Unix seconds of the attempt"),
  header(
    "webhook-signature",
    "`v1,` and a signature in base64 for each secret that counts, with spaces between them"
  )
]

/** The webhooks of OpenAPI 3.1: one entry for each type of event. */
export const webhookDocument = Record.map(sampleData, (data, type) => ({
  post: {
    summary: type,
    description:
      "Signed by the Standard Webhooks specification. Answer 2xx within 15 seconds; what is not taken is sent again.",
    parameters: headers,
    requestBody: {
      content: {
        "application/json": {
          schema: {
            type: "object",
            required: ["type", "timestamp", "data"],
            properties: {
              type: { const: type },
              timestamp: { type: "string", description: "When it happened, ISO 8601 in UTC" },
              data: { type: "object", description: "What the API answers of it" }
            }
          },
          example: { type, timestamp: "2026-01-31T12:00:00.000Z", data }
        }
      }
    },
    responses: { "2XX": { description: "The message was taken" } }
  }
}))
