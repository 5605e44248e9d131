/** Answers to orders that were not taken. */
import {
  ACCOUNT,
  clip,
  comfy,
  film,
  motion,
  newApi,
  page,
  paint,
  poster,
  type RefusalRow,
  SITE,
  scene,
  tanstack
} from "./recordedAnswers.rows.ts"

const arkError = (code: string, type: string, message: string, param?: string) => ({
  error: { code, message, type, ...(param === undefined ? {} : { param }) }
})

const moderatedImage = {
  error: {
    code: "OutputImageSensitiveContentDetected",
    message: "This image may break a rule."
  }
}

const notOpen = arkError(
  "ModelNotOpen",
  "NotFound",
  `Account ${ACCOUNT} has not opened the model ${film}; open it at https://${SITE}/ark.`
)

export const refusals: ReadonlyArray<RefusalRow> = [
  {
    protocol: "replicate",
    says: "our account has made too many predictions in a minute",
    source: "replicate.com/docs/topics/predictions/rate-limits",
    status: 429,
    body: { detail: "Request was throttled. Your rate limit resets in ~30s." },
    upstreamModel: "bytedance/seedance-1-pro",
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503,
    hides: []
  },
  {
    protocol: "vp_a",
    says: "our account has not opened the model",
    source: "xinnan-tech/xiaozhi-esp32-server, issue 1234",
    status: 404,
    body: notOpen,
    upstreamModel: film,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [ACCOUNT, SITE, film]
  },
  {
    protocol: "vp_a",
    says: "the limit that we have set for the model is reached",
    source: page,
    status: 429,
    body: arkError(
      "SetLimitExceeded",
      "TooManyRequests",
      `Account ${ACCOUNT} is at the limit it has set for ${film}, which is paused.`
    ),
    upstreamModel: film,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT, film]
  },
  {
    protocol: "vp_a",
    says: "a bill of ours is not paid",
    source: page,
    status: 403,
    body: arkError("AccountOverdueError", "Forbidden", `Account ${ACCOUNT} has a bill to pay.`),
    upstreamModel: film,
    means: { effectiveStatus: 403, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "vp_a",
    says: "there is no such model, or it is not ours",
    source: page,
    status: 404,
    body: arkError(
      "InvalidEndpointOrModel.NotFound",
      "NotFound",
      `There is no model ${film}, or it is not yours. Request id: 0217`
    ),
    upstreamModel: film,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [film]
  },
  {
    protocol: "vp_a",
    says: "references, which the model does not take",
    source: `${tanstack}, probed against the vendor`,
    status: 400,
    body: arkError(
      "InvalidParameter",
      "BadRequest",
      `The parameter content is not valid: task type r2v is none of model ${film}.`,
      "content"
    ),
    upstreamModel: film,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400,
    hides: [film]
  },
  {
    protocol: "vp_a",
    says: "a ratio beside a first frame",
    source: "Comfy-Org/ComfyUI, pull request 15395",
    status: 400,
    body: arkError(
      "InvalidParameter.TaskTypeConstraint",
      "BadRequest",
      "The parameter ratio is not valid: the first frame has the ratio already.",
      "ratio"
    ),
    upstreamModel: film,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_a",
    says: "a face in the image",
    source: page,
    status: 400,
    body: arkError(
      "InputImageSensitiveContentDetected.PrivacyInformation",
      "BadRequest",
      "The image may show a real person. Request id: 0217"
    ),
    upstreamModel: film,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_a",
    says: "too much is in the queue",
    source: page,
    status: 429,
    body: arkError("QuotaExceeded", "TooManyRequests", "The queue of the model is full."),
    upstreamModel: film,
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    protocol: "vp_a",
    says: "an error of its own, after which there may be a task",
    source: page,
    status: 500,
    body: arkError("InternalServiceError", "InternalServerError", "Something broke inside."),
    upstreamModel: film,
    means: { effectiveStatus: 500, proof: null },
    told: 502
  },
  {
    protocol: "vp_d",
    says: "our account may not call the model by this way",
    source: "kling.ai document-api, error codes",
    status: 404,
    body: { code: 1202, message: `${clip} is not for this account`, request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [clip]
  },
  {
    protocol: "vp_d",
    says: "there is no such model on the path",
    source: "kling.ai document-api, error codes",
    status: 404,
    body: { code: 1203, message: `no resource ${clip}`, request_id: "r", data: null },
    upstreamModel: clip,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [clip]
  },
  {
    protocol: "vp_d",
    says: "our package is used up, which is no matter of speed",
    source: "inference-sh/grid api/klingai/docs/00-general.md",
    status: 429,
    body: { code: 1102, message: `package of account ${ACCOUNT} is used up`, request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "vp_d",
    says: "too many tasks at once",
    source: "inference-sh/grid api/klingai/docs/00-general.md",
    status: 429,
    body: { code: 1303, message: "more tasks at once than the package has", request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    protocol: "vp_d",
    says: "what was ordered is not safe",
    source: "inference-sh/grid api/klingai/docs/00-general.md",
    status: 400,
    body: { code: 1301, message: "the prompt is against a rule", request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_d",
    says: "a value in an answer of success",
    source: "vercel/ai packages/klingai",
    body: { code: 1201, message: "settings.duration is not valid", request_id: "r", data: null },
    upstreamModel: clip,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_d",
    says: "it has waited too long inside, and there may be a task",
    source: "inference-sh/grid api/klingai/docs/00-general.md",
    status: 504,
    body: { code: 5002, message: "too late", request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 504, proof: null },
    told: 504
  },
  {
    protocol: "vp_e",
    says: "the model is not for our account, or not on this path",
    source: "platform.vidu.com, error-code",
    status: 400,
    body: {
      code: 400,
      reason: "ModelUnavailable",
      message: `${motion} cannot be had here`,
      metadata: { trace_id: "t-1", model: motion }
    },
    upstreamModel: motion,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [motion]
  },
  {
    protocol: "vp_e",
    says: "our credits are used up",
    source: "platform.vidu.com, error-code",
    status: 400,
    body: {
      code: 400,
      reason: "CreditInsufficient",
      message: `account ${ACCOUNT} has no credits`,
      metadata: { trace_id: "t-1" }
    },
    upstreamModel: motion,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "vp_e",
    says: "the prompt is against a rule",
    source: "platform.vidu.com, error-code",
    status: 400,
    body: {
      code: 400,
      reason: "TaskPromptPolicyViolation",
      message: "the prompt is refused",
      metadata: {}
    },
    upstreamModel: motion,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_e",
    says: "too many tasks at once",
    source: "platform.vidu.com, error-code",
    status: 429,
    body: { code: 429, reason: "QuotaExceeded", message: "five tasks are at work", metadata: null },
    upstreamModel: motion,
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    protocol: "vp_e",
    says: "a task that has failed before it began",
    source: `${newApi}/vidu`,
    body: {
      task_id: "8093",
      state: "failed",
      err_code: "AuditSubmitIllegal",
      credits: 0,
      model: motion,
      prompt: "x",
      payload: "vt_1"
    },
    upstreamModel: motion,
    means: { effectiveStatus: 502, proof: null, isVerdict: true },
    told: 502,
    hides: [motion]
  },
  {
    protocol: "vp_f",
    says: "a bill of ours is not paid",
    source: "1Panel-dev/MaxKB, issue 5297; tencentmusic/supersonic, issue 1572",
    status: 400,
    body: {
      code: "Arrearage",
      message: `Please pay what account ${ACCOUNT} owes, see https://${SITE}/error-code#overdue`,
      request_id: "8af536f9"
    },
    upstreamModel: scene,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT, SITE]
  },
  {
    protocol: "vp_f",
    says: "a bill of ours is not paid, in the standard form",
    source: "hsliuping/TradingAgents-CN, issue 170",
    status: 400,
    body: {
      error: {
        code: "Arrearage",
        param: null,
        type: "Arrearage",
        message: `Please pay what account ${ACCOUNT} owes`
      },
      request_id: "f9fdb027"
    },
    upstreamModel: scene,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "vp_f",
    says: "we have not bought the model",
    source: "alibabacloud.com model-studio, error-code",
    status: 403,
    body: {
      code: "AccessDenied.Unpurchased",
      request_id: "r",
      message: `Account ${ACCOUNT} may not call ${scene}`
    },
    upstreamModel: scene,
    means: { effectiveStatus: 403, proof: "credentials_refused" },
    told: 502,
    hides: [ACCOUNT, scene]
  },
  {
    protocol: "vp_f",
    says: "there is no such model for us",
    source: "alibabacloud.com model-studio, error-code",
    status: 404,
    body: { code: "ModelNotFound", message: `There is no ${scene} for you`, request_id: "r" },
    upstreamModel: scene,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [scene]
  },
  {
    protocol: "vp_f",
    says: "what was ordered may not be shown",
    source: "alibabacloud.com model-studio, error-code",
    status: 400,
    body: { code: "DataInspectionFailed", message: "The input may not be shown", request_id: "r" },
    upstreamModel: scene,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_f",
    says: "the quota of our account is used up for now",
    source: "alibabacloud.com model-studio, error-code",
    status: 429,
    body: { code: "Throttling.AllocationQuota", message: "Too much at once", request_id: "r" },
    upstreamModel: scene,
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    protocol: "vp_f",
    says: "an answer without a task, in which nothing is wrong",
    source: "dashscope-sdk-python 1.26.2, which reads it as a success",
    body: { request_id: "r", code: "", message: "", output: { task_status: "PENDING" } },
    upstreamModel: scene,
    means: "lost",
    told: 502
  },
  {
    protocol: "ip_a",
    says: "our account has not opened the model",
    source: "xinnan-tech/xiaozhi-esp32-server, issue 1234",
    status: 404,
    body: arkError("ModelNotOpen", "NotFound", `Account ${ACCOUNT} has not opened ${paint}.`),
    upstreamModel: paint,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [ACCOUNT, paint]
  },
  {
    protocol: "ip_a",
    says: "the limit that we have set for the model is reached",
    source: page,
    status: 429,
    body: arkError("SetLimitExceeded", "TooManyRequests", `Account ${ACCOUNT} is at its limit.`),
    upstreamModel: paint,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "ip_a",
    says: "every image was moderated",
    source: "BytePlus ModelArk, images of Seedream 4.5",
    body: {
      model: paint,
      created: 1783065388,
      data: [moderatedImage, moderatedImage],
      usage: { generated_images: 0, output_tokens: 0, total_tokens: 0 }
    },
    upstreamModel: paint,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400,
    hides: [paint]
  },
  {
    protocol: "ip_a",
    says: "the image was moderated, as an error of its own",
    source: page,
    status: 400,
    body: arkError(moderatedImage.error.code, "BadRequest", "The image may break a rule."),
    upstreamModel: paint,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "ip_a",
    says: "a size that the model does not draw",
    source: page,
    status: 400,
    body: arkError("InvalidParameter", "BadRequest", `${paint} needs more pixels.`, "size"),
    upstreamModel: paint,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400,
    hides: [paint]
  },
  {
    protocol: "ip_b",
    says: "a bill of ours is not paid",
    source: "alibaba/spring-ai-alibaba, issue 1146",
    status: 400,
    body: { code: "Arrearage", message: `Account ${ACCOUNT} owes something`, request_id: "r" },
    upstreamModel: poster,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "ip_b",
    says: "there is no such model for us",
    source: "alibabacloud.com model-studio, error-code",
    status: 404,
    body: { code: "ModelNotFound", message: `There is no ${poster} for you`, request_id: "r" },
    upstreamModel: poster,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [poster]
  },
  {
    protocol: "ip_b",
    says: "what was ordered may not be shown",
    source: "alibabacloud.com model-studio, error-code",
    status: 400,
    body: { code: "DataInspectionFailed", message: "The output may not be shown", request_id: "r" },
    upstreamModel: poster,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "ip_b",
    says: "choices in which there is no picture",
    source: comfy,
    body: {
      output: { choices: [{ message: { role: "assistant", content: [{ text: "no" }] } }] },
      request_id: "r"
    },
    upstreamModel: poster,
    means: "lost",
    told: 502
  }
]
