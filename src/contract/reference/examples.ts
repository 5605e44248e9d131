/**
 * Named examples of the JSON bodies, by operation. Orders name models of the demo catalog. They are
 * part of the document alone, so that no client loads them.
 */
import type { CatalogWrite } from "../../domain/catalog/CatalogDocument.ts"
import type { OperationId } from "./operationIds.ts"

interface Example {
  readonly summary: string
  readonly value: Readonly<Record<string, unknown>>
}

type Examples = Readonly<Record<string, Example>>

const PROMPT = "a lighthouse at dusk, waves below"
const REMIX = "the same scene, in winter"
const VIDEO = "video_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"
const IMAGE = "https://example.com/lighthouse.png"

const videoExamples: Examples = {
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
  "vp_a with an earlier video": {
    summary: "vp_a, models that edit and extend: an earlier video of the organisation goes on",
    value: {
      model: "film-2.5",
      prompt: "the lamp goes out",
      video: { task_id: "vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e", role: "extend_video" },
      duration: 8
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
      model: "scene-2.7-image",
      prompt: PROMPT,
      image_url: { url: IMAGE },
      duration: 5,
      resolution: "720p"
    }
  },
  veo: {
    summary:
      "veo: 4, 6 or 8 seconds; images are data URLs or files, as the vendor loads no address",
    value: { model: "shot-1", prompt: PROMPT, duration: 8, resolution: "1080p", ratio: "9:16" }
  },
  minimax: {
    summary: "minimax: 768p or 2K; seconds of reference videos are billed as well",
    value: { model: "reel-1", prompt: PROMPT, duration: 6, resolution: "2K" }
  }
}

const imageExamples: Examples = {
  ip_a: {
    summary: "ip_a: every field but the model reaches the vendor as it came",
    value: {
      model: "paint-1",
      prompt: PROMPT,
      n: 2,
      size: "1024x1024",
      quality: "high",
      response_format: "b64_json"
    }
  },
  ip_b: {
    summary: "ip_b: with a reference image; the answer has addresses",
    value: { model: "paint-2", prompt: PROMPT, image: IMAGE, size: "1024*1024" }
  },
  ip_c: {
    summary: "ip_c, through a relay",
    value: { model: "relay-paint", prompt: PROMPT, n: 1 }
  },
  gemini: {
    summary: "gemini: the size by its name, the shape beside it; the answer is base64",
    value: { model: "sketch-1", prompt: PROMPT, size: "2K", aspect_ratio: "16:9" }
  }
}

const chatExamples: Examples = {
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

const messageExamples: Examples = {
  text: {
    summary: "A text",
    value: {
      model: "talk-1",
      max_tokens: 256,
      system: "Be brief",
      messages: [{ role: "user", content: "Describe a lighthouse at dusk" }]
    }
  },
  tool: {
    summary: "A tool, as a stream",
    value: {
      model: "talk-1",
      max_tokens: 256,
      messages: [{ role: "user", content: "When does the lamp turn?" }],
      tools: [
        {
          name: "look_up",
          description: "The hours of a lamp",
          input_schema: { type: "object", properties: { lamp: { type: "string" } } }
        }
      ],
      stream: true
    }
  }
}

const responseExamples: Examples = {
  response: {
    summary: "A question with instructions",
    value: {
      model: "talk-2",
      instructions: "Answer in one sentence",
      input: "Describe a lighthouse at dusk"
    }
  },
  "response, continued": {
    summary: "A stored response goes on; its conversation needs not to be sent again",
    value: {
      model: "talk-2",
      previous_response_id: "resp_0199c8f05b7e7c3a9d2e3f1a2b4c5d6e",
      input: "And at dawn?"
    }
  },
  "response with a tool": {
    summary: "The client runs the tool, and sends its output as an item",
    value: {
      model: "talk-2",
      input: [{ role: "user", content: "When is the harbour calm?" }],
      tools: [
        {
          type: "function",
          name: "tides",
          parameters: { type: "object", properties: { day: { type: "string" } } }
        }
      ],
      stream: true
    }
  }
}

const embeddingExamples: Examples = {
  openai: {
    summary: "Several texts at once",
    value: { model: "vector-1", input: ["a lighthouse", "a harbour"] }
  }
}

const rerankExamples: Examples = {
  texts: {
    summary: "Two documents",
    value: {
      model: "rank-1",
      query: "When is the harbour calm?",
      documents: ["The harbour is calm at dawn.", "Trains leave every hour."],
      top_n: 1
    }
  }
}

const speechExamples: Examples = {
  sound: {
    summary: "A sentence",
    value: { model: "voice-1", input: "The harbour is calm at dawn.", voice: "alloy" }
  }
}

const transcriptionExamples: Examples = {
  file: {
    summary: "An uploaded sound",
    value: { model: "listen-1", file: "file_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e" }
  }
}

const changeEndpoint: Examples = {
  events: {
    summary: "Other events; all else stays",
    value: { event_types: ["video.completed", "video.failed", "balance.low"] }
  },
  enable: { summary: "Enabled again after failures", value: { enabled: true } }
}
const rotateSecret: Examples = {
  overlap: {
    summary: "The old secret signs for 24 hours more",
    value: { keep_old_secret_active_for_24_hours: true }
  }
}
const testEndpoint: Examples = {
  sample: { summary: "A sample of one event", value: { event_type: "video.completed" } }
}
const redeliver: Examples = {
  one: {
    summary: "One message",
    value: { delivery_id: "msg_0199c8f05b7e7c3a9d2e3f1a2b4c5d6e" }
  },
  since: { summary: "All since a time", value: { since: "2026-01-31T12:00:00Z" } }
}

const catalog: typeof CatalogWrite.Encoded = {
  channels: [
    {
      id: "vendor-a",
      name: "Vendor A",
      base_url: "https://api.vendor-a.example/v1",
      api_key: "sk-vendor-a"
    }
  ],
  models: [
    {
      id: "film-1",
      modality: "video",
      protocol: "vp_a",
      input_forms: ["text", "image", "video", "audio"],
      prices: {
        kind: "token_video",
        per_million_tokens: {
          base: { without_video: "46", with_video: "28" },
          "1080p": { without_video: "51", with_video: "31" }
        }
      }
    }
  ],
  mounts: [{ model: "film-1", channel: "vendor-a", upstream_model: "doubao-seedance-2-0-260128" }]
}
const catalogs: Examples = {
  catalog: { summary: "One channel, one model and its mount", value: catalog }
}

const priceLists: Examples = {
  factor: {
    summary: "15 % below the catalog, from a day on",
    value: { name: "Partners", factor: "0.85", holds_from: "2027-01-31" }
  },
  prices: {
    summary: "An own price of one model",
    value: { name: "Campaign", prices: { "paint-1": { kind: "image", per_image: "0.15" } } }
  }
}

export const examples: Partial<Readonly<Record<OperationId, Examples>>> = {
  "videos.create": videoExamples,
  "openaiVideos.create": {
    text: {
      summary: "From a text",
      value: { model: "film-1", prompt: PROMPT, seconds: "8", size: "720x1280" }
    }
  },
  "openaiVideos.remix": {
    video: { summary: "Of the video in the path", value: { prompt: REMIX } }
  },
  "openaiVideos.edit": {
    task: { summary: "Of an earlier video", value: { prompt: REMIX, video: { id: VIDEO } } },
    url: {
      summary: "Of a video at a URL",
      value: { prompt: REMIX, video: "https://example.com/scene.mp4", model: "film-2.5" }
    }
  },
  "openaiVideos.extend": {
    task: {
      summary: "Of an earlier video",
      value: { prompt: "the lamp goes out", video: { id: VIDEO }, seconds: "8" }
    }
  },
  "images.generate": imageExamples,
  "images.edit": {
    url: {
      summary: "From a picture at a URL",
      value: { model: "paint-1", prompt: "the same scene, in winter", image: IMAGE }
    }
  },
  "texts.chat": chatExamples,
  "responses.create": responseExamples,
  "messages.create": messageExamples,
  "texts.embed": embeddingExamples,
  "quotes.quote": {
    ...videoExamples,
    ...imageExamples,
    ...chatExamples,
    ...embeddingExamples,
    ...rerankExamples,
    ...speechExamples
  },
  "texts.rerank": rerankExamples,
  "audio.speech": speechExamples,
  "audio.transcribe": transcriptionExamples,
  "audio.translate": transcriptionExamples,
  "webhooks.createEndpoint": {
    tasks: {
      summary: "Told of ended videos and images",
      value: {
        name: "production",
        url: "https://example.com/hooks",
        event_types: ["video.completed", "video.failed", "image.completed", "image.failed"]
      }
    }
  },
  "webhooks.changeEndpoint": changeEndpoint,
  "webhooks.rotateSecret": rotateSecret,
  "webhooks.testEndpoint": testEndpoint,
  "webhooks.redeliver": redeliver,

  "admin.replaceCatalog": catalogs,
  "admin.previewCatalog": catalogs,
  "channels.testAccount": {
    account: {
      summary: "An account that speaks vp_a",
      value: {
        protocol: "vp_a",
        base_url: "https://api.vendor-a.example/v1",
        api_key: "sk-vendor-a"
      }
    }
  },
  "priceLists.createPriceList": priceLists,
  "priceLists.replacePriceList": priceLists,
  "admin.createOrganization": {
    organization: { summary: "A new customer", value: { name: "Lighthouse Films" } }
  },
  "accounts.changeOrganization": {
    "price list": {
      summary: "Put on a price list",
      value: { price_list: "pl_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e" }
    },
    credit: {
      summary: "Orders may take the pool below zero",
      value: { credit: "500", holds_on_credit: true }
    },
    disable: { summary: "Its keys are refused", value: { enabled: false } }
  },
  "admin.setLowBalance": {
    alert: { summary: "Alert below 100", value: { threshold: "100" } },
    none: { summary: "No alert", value: { threshold: null } }
  },
  "admin.createMember": {
    capped: {
      summary: "A member with a monthly cap",
      value: { name: "Editing team", monthly_cap: "2000" }
    }
  },
  "accounts.changeMember": {
    cap: { summary: "Another monthly cap", value: { monthly_cap: "3000" } },
    disable: { summary: "Its keys are refused", value: { enabled: false } }
  },
  "admin.createKey": {
    usual: { summary: "The usual scopes, every model", value: { name: "production" } },
    limited: {
      summary: "For videos of one model, with an expiry and a rate limit",
      value: {
        name: "contractor",
        scopes: ["models", "videos"],
        models: ["film-1"],
        expires_at: "2027-01-31T12:00:00Z",
        requests_per_minute: 60
      }
    }
  },
  "accounts.changeKey": {
    models: { summary: "Other models", value: { models: ["film-1", "paint-1"] } },
    unlimited: {
      summary: "No expiry, the gateway's default rate limit",
      value: { expires_at: null, requests_per_minute: null }
    }
  },
  "admin.deposit": {
    deposit: { summary: "1,000, once", value: { amount: "1000", reference: "invoice-2027-001" } }
  },
  "money.adjust": {
    credit: {
      summary: "Money given",
      value: {
        kind: "credit",
        amount: "50",
        reason: "Goodwill for the outage of 31 January",
        reference: "ticket-4711"
      }
    },
    correction: {
      summary: "A charge given back",
      value: {
        kind: "correction",
        amount: "4.968",
        reason: "The video was empty",
        reference: "ticket-4712",
        usage_id: "us_vt_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e"
      }
    }
  },
  "budgets.createBudget": {
    organization: {
      summary: "Of the organisation, each month",
      value: { scope: "organization", period: "month", amount: "10000", thresholds: [80, 100] }
    },
    member: {
      summary: "Of a member, each day",
      value: {
        scope: "member",
        subject_id: "mem_0199c8f0-5b7e-7c3a-9d2e-3f1a2b4c5d6e",
        period: "day",
        amount: "200"
      }
    }
  },
  "budgets.changeBudget": {
    amount: { summary: "Another amount", value: { amount: "12000" } }
  },
  "history.resolveOrphan": {
    note: {
      summary: "Claimed at the vendor",
      value: { note: "Vendor A refunded the job on 31 January" }
    }
  },
  "operators.createOperator": {
    finance: { summary: "Somebody of finance", value: { name: "Ada", role: "finance" } }
  },
  "operators.changeOperator": {
    role: { summary: "Another role", value: { role: "operator" } }
  },
  "operatorWebhooks.createEndpointFor": {
    operators: {
      summary: "The operators' own",
      value: {
        name: "on-call",
        url: "https://example.com/hooks",
        event_types: ["channel.down", "channel.up", "orphan.created", "ledger.violation"]
      }
    }
  },
  "operatorWebhooks.changeAnyEndpoint": changeEndpoint,
  "operatorWebhooks.rotateAnySecret": rotateSecret,
  "operatorWebhooks.testAnyEndpoint": testEndpoint,
  "operatorWebhooks.redeliverAny": redeliver
}
