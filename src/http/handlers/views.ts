/** Domain values as clients see them. */

import { formatNano } from "../../domain/money/Money.ts"
import { publicState } from "../../domain/video/VideoTask.ts"
import type { Balance } from "../../services/Ledger.ts"
import type { Task } from "../../services/TaskRepo.ts"
import type { UsageRecord } from "../../services/UsageLog.ts"

export const moneyView = (balance: Balance) => ({
  balance: formatNano(balance.balanceNano),
  held: formatNano(balance.heldNano),
  available: formatNano(balance.balanceNano - balance.heldNano)
})

export const usageView = (record: UsageRecord) => ({
  id: record.id,
  model: record.model,
  modality: record.modality,
  input: Number(record.input),
  output: Number(record.output),
  unit: record.unit,
  unit_price: formatNano(record.unitPriceNano),
  input_unit_price:
    record.inputUnitPriceNano === null ? null : formatNano(record.inputUnitPriceNano),
  charge: formatNano(record.chargeNano),
  basis: record.basis,
  task_id: record.taskId,
  created_at: record.createdAt.toISOString()
})

export const taskView = (task: Task) => {
  const { id } = task
  if (publicState(task.state) === "succeeded" && task.videoUrl !== null) {
    return {
      id,
      task_status: "succeeded" as const,
      content: { video_url: task.videoUrl },
      usage:
        task.completionTokens === null ? {} : { completion_tokens: Number(task.completionTokens) }
    }
  }
  if (publicState(task.state) === "failed") {
    return {
      id,
      task_status: "failed" as const,
      error: { code: task.errorCode ?? "failed", message: task.errorMessage ?? "The task failed" }
    }
  }
  return { id, task_status: "processing" as const }
}
