import { Effect, Option, Schema } from "effect"
import type { Call, Desk, Refusal, VendorRoute } from "../../Vendor.ts"
import { Content } from "../contentBlocks.ts"
import { invalidParameter, missingParameter, sensitiveInput } from "../contentTasks.ts"
import { callsAt } from "../vp_aVendor.ts"

const Texts = Schema.Struct({ content: Content, prompt: Schema.optionalKey(Schema.Unknown) })

/**
 * Checks the field `prompt`, in which the relay requires the text of `content` a second time. Where
 * `content` has several texts, `prompt` must contain each of them, joined in any way.
 */
const checkPrompt = (body: unknown): Effect.Effect<void, Refusal> => {
  const textFields = Option.getOrUndefined(Schema.decodeUnknownOption(Texts)(body))
  const texts = (textFields?.content ?? []).flatMap((block) =>
    block.type === "text" ? [block.text] : []
  )
  if (texts.length === 0) return Effect.void
  const prompt = textFields?.prompt
  if (prompt === undefined) return Effect.fail(missingParameter("prompt"))
  return typeof prompt === "string" && texts.every((text) => prompt.includes(text))
    ? Effect.void
    : Effect.fail(invalidParameter("prompt", "is not the text of `content`."))
}

/** The content block family: the vendor's requests and responses at the paths of the relay. */
export const routesOfA = (relay: Pick<Desk, "protocol" | "refuse">): ReadonlyArray<VendorRoute> => {
  const { submit, poll } = callsAt({ ...relay, family: "a", moderatedInput: sensitiveInput })
  const path = "/v1/videos/generations"
  return [
    {
      method: "POST",
      path: `${path}/submit`,
      handle: (call: Call) => Effect.andThen(checkPrompt(call.body), submit(call))
    },
    { method: "GET", path: `${path}/:id`, handle: poll }
  ]
}
