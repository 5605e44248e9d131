/** The AI SDK's provider may not import the domain, so its table of sizes is compared with the domain's here. */
import { assert, describe, it } from "@effect/vitest"
import { experimental_generateVideo as generateVideo } from "ai"
import { createMediaGateway } from "../../src/ai-sdk/provider.ts"
import { frameOf, sizeNamed } from "../../src/domain/video/sizes.ts"
import { Resolution, tiers } from "../../src/domain/video/tiers.ts"

const provider = createMediaGateway({ apiKey: "sk-test", baseURL: "http://127.0.0.1:9" })

/** The sizes that the provider accepts, as its refusal of another size lists them. */
const acceptedSizes = async (): Promise<ReadonlyArray<string>> => {
  const model = provider.video("film")
  const refusal = await generateVideo({
    model,
    prompt: "a sea",
    resolution: "1x1",
    maxRetries: 0
  }).then(
    () => "",
    (error: unknown) => String(error)
  )
  return refusal.match(/\b\d{2,}x\d{2,}\b/g) ?? []
}

describe("the sizes of the AI SDK's provider", () => {
  it("are sizes of the gateway at 16:9 and 9:16", async () => {
    const sizes = await acceptedSizes()
    assert.isNotEmpty(sizes)
    for (const size of sizes) {
      const [width = 0, height = 0] = size.split("x").map(Number)
      assert.strictEqual(frameOf(size)?.ratio, width > height ? "16:9" : "9:16", size)
    }
  })

  it.each(Resolution.literals)("include the name and the billed size of %s", async (resolution) => {
    const sizes = await acceptedSizes()
    const { width, height } = tiers[resolution]
    assert.includeMembers(
      [...sizes],
      [
        sizeNamed(resolution, "16:9"),
        sizeNamed(resolution, "9:16"),
        `${width}x${height}`,
        `${height}x${width}`
      ]
    )
  })
})
