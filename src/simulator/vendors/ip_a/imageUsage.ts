import type { AcceptedEntry } from "../../Book.ts"
import { countOf, isOn } from "../../switches.ts"

const TEXT_TOKENS = 12
const TOKENS_PER_INPUT_IMAGE = 300

/**
 * The usage field of images that are billed by tokens. `sim:image-tokens=N` in a prompt makes each
 * image N output tokens; without it, the vendor reports no usage. With `sim:cached=N`, N tokens of
 * the input are cached.
 */
export const imageUsage = ({ order, switches }: AcceptedEntry, images: number) => {
  if (!isOn(switches, "image-tokens")) return {}
  const imageTokens = order.inputs.images * TOKENS_PER_INPUT_IMAGE
  const inputTokens = TEXT_TOKENS + imageTokens
  const outputTokens = countOf(switches, "image-tokens", 0) * images
  return {
    usage: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      input_tokens_details: {
        text_tokens: TEXT_TOKENS,
        image_tokens: imageTokens,
        ...(isOn(switches, "cached") ? { cached_tokens: countOf(switches, "cached", 0) } : {})
      }
    }
  }
}
