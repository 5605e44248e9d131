/**
 * Texts of operations and named examples, which the OpenAPI document has in addition to the
 * schemas.
 */
import { OpenApi } from "effect/http-api"

interface Example {
  readonly summary: string
  readonly value: Readonly<Record<string, unknown>>
}

type Examples = Readonly<Record<string, Example>>

/** Annotates an operation with a short summary, a description, and named examples of its body. */
export const operation = (summary: string, description: string, examples?: Examples) =>
  OpenApi.annotations({
    summary,
    description,
    transform: (operation) => {
      if (examples !== undefined) {
        Object.assign(operation.requestBody.content["application/json"], { examples })
      }
      return operation
    }
  })

// Example bodies for each protocol, with models of the demo catalog

const PROMPT = "a lighthouse at dusk, waves below"
const IMAGE = "https://example.com/lighthouse.png"

export const videoExamples: Examples = {
  vp_a: {
    summary: "vp_a, billed by tokens: from text, all defaults spelled out",
    value: { model: "film-1", prompt: PROMPT, duration: 5, resolution: "720p", ratio: "16:9" }
  },
  "vp_a with a reference video": {
    summary: "vp_a, content blocks: a reference video prices the whole order with video input",
    value: {
      model: "film-1",
      content: [
        { type: "text", text: "the same scene, in winter" },
        {
          type: "video_url",
          role: "reference_video",
          video_url: { url: "https://example.com/scene.mp4" }
        }
      ],
      duration: 8,
      resolution: "1080p"
    }
  },
  vp_b: {
    summary: "vp_b: -1 lets the model choose its length; 15 seconds are held for it",
    value: { model: "film-2", prompt: PROMPT, duration: -1, generate_audio: true }
  },
  vp_c: {
    summary: "vp_c, through a relay: what can be ordered follows the mounted model",
    value: { model: "relay-film", prompt: PROMPT, duration: 5, resolution: "480p" }
  },
  vp_d: {
    summary: "vp_d, billed by seconds: from an image",
    value: { model: "clip-1", prompt: PROMPT, image: IMAGE, duration: 10, resolution: "1080p" }
  },
  vp_e: {
    summary: "vp_e: length and resolution as flags in the prompt",
    value: { model: "motion-1", prompt: `${PROMPT} --duration 4 --resolution 540p` }
  },
  vp_f: {
    summary: "vp_f: from an image given as `{url}`",
    value: {
      model: "scene-1",
      prompt: PROMPT,
      image_url: { url: IMAGE },
      duration: 5,
      resolution: "720p"
    }
  }
}

export const imageExamples: Examples = {
  ip_a: {
    summary: "ip_a: every field but the model reaches the vendor as it came",
    value: {
      model: "paint-2",
      prompt: PROMPT,
      n: 2,
      size: "1024x1024",
      quality: "high",
      response_format: "b64_json"
    }
  },
  ip_b: {
    summary: "ip_b: with a reference image; the answer has addresses",
    value: { model: "paint-1", prompt: PROMPT, image: IMAGE, size: "1024*1024" }
  },
  ip_c: {
    summary: "ip_c, through a relay",
    value: { model: "relay-paint", prompt: PROMPT, n: 1 }
  }
}

export const chatExamples: Examples = {
  chat: {
    summary: "Model of modality chat",
    value: {
      model: "talk-1",
      messages: [{ role: "user", content: "Describe a lighthouse at dusk" }],
      max_tokens: 200
    }
  },
  "chat, streamed": {
    summary: "Server-sent events, with the usage in the last one",
    value: {
      model: "talk-1",
      messages: [{ role: "user", content: "Describe a lighthouse at dusk" }],
      stream: true,
      stream_options: { include_usage: true }
    }
  },
  vlm: {
    summary: "Model of modality vlm: the content is an array",
    value: {
      model: "look-1",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: IMAGE } }
          ]
        }
      ]
    }
  }
}

export const embeddingExamples: Examples = {
  openai: {
    summary: "Several texts at once",
    value: { model: "vector-1", input: ["a lighthouse", "a harbour"] }
  }
}
