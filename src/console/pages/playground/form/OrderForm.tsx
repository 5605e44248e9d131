/** The form of an order: the text first, then the models with the prices, and the options. */
import { Anchor, Button, Card, Group, Kbd, Stack, Text } from "@mantine/core"
import { IconPlayerPlay } from "@tabler/icons-react"
import { useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import type { ModelEntry } from "../../../../http/api/models.ts"
import type { Lane } from "../useLane.ts"
import { AdvancedPart } from "./AdvancedPart.tsx"
import { type Draft, kindOfModel } from "./draft.ts"
import { type Field, formFaultsOf, isFolded } from "./faults.ts"
import { ModelChoice } from "./ModelChoice.tsx"
import { PromptFields } from "./PromptFields.tsx"
import { QuoteLine } from "./QuoteLine.tsx"
import { RefusalNote } from "./RefusalNote.tsx"

/**
 * The message of a field's fault where there are several faults. A single fault is explained below
 * the form.
 */
const fieldError = (field: Field, faults: ReturnType<typeof formFaultsOf>): string | boolean => {
  const fault = faults.find((candidate) => candidate.field === field)
  return faults.length > 1 && fault !== undefined ? fault.message : fault !== undefined
}

interface Props {
  readonly models: ReadonlyArray<ModelEntry>
  readonly model: ModelEntry
  readonly draft: Draft
  readonly change: (patch: Partial<Draft>) => void
  /** The lanes of the order: one, or two that are compared. */
  readonly lanes: ReadonlyArray<Lane>
  readonly onChoose: (id: string) => void
  /** Selects the model to compare with; null ends the comparison. */
  readonly onCompare: (id: string | null) => void
}

export const OrderForm = ({ models, model, draft, change, lanes, onChoose, onCompare }: Props) => {
  const { t } = useTranslation("playground")
  const form = useRef<HTMLFormElement>(null)
  const [isAdvanced, setIsAdvanced] = useState(false)
  const [focus, setFocus] = useState<{ readonly field: Field } | null>(null)
  const [first, second] = lanes
  const kind = kindOfModel(model)
  const others = models.filter((one) => one.id !== model.id && kindOfModel(one) === kind)
  const isComparing = second !== undefined
  const show = (field: Field) => {
    if (isFolded(field)) setIsAdvanced(true)
    setFocus({ field })
    form.current?.querySelector<HTMLElement>(`[data-field="${field}"]`)?.focus()
  }
  const faults =
    first === undefined || first.refusal === null ? [] : formFaultsOf(first.refusal, model)
  const fields = {
    model,
    draft,
    change,
    errorOf: (field: Field) => fieldError(field, faults)
  }
  return (
    <Card withBorder>
      <form
        ref={form}
        noValidate
        aria-label={t("form")}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault()
            event.currentTarget.requestSubmit()
          }
        }}
        onSubmit={(event) => {
          event.preventDefault()
          for (const lane of lanes) lane.submit(show)
        }}
      >
        <Stack gap="sm">
          <PromptFields {...fields} />
          <Group align="flex-start" gap="md">
            <ModelChoice label={t("model")} models={models} model={model} onChoose={onChoose}>
              {isComparing || others.length === 0 ? null : (
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  onClick={() => onCompare(others[0]?.id ?? null)}
                >
                  {t("compare")}
                </Anchor>
              )}
            </ModelChoice>
            {second === undefined ? null : (
              <ModelChoice
                label={t("compareWith")}
                models={others}
                model={others.find(({ id }) => id === second.modelId) ?? model}
                onChoose={onCompare}
              >
                <Anchor component="button" type="button" size="sm" onClick={() => onCompare(null)}>
                  {t("endCompare")}
                </Anchor>
              </ModelChoice>
            )}
          </Group>
          {lanes.map((lane) =>
            lane.refusal === null ? null : (
              <Stack key={lane.name} gap={4}>
                {isComparing ? (
                  <Text size="sm" fw={600}>
                    {lane.modelId}
                  </Text>
                ) : null}
                <RefusalNote
                  error={lane.refusal}
                  model={models.find(({ id }) => id === lane.modelId) ?? null}
                  change={change}
                  onShow={show}
                  onRetry={lane.retry}
                />
              </Stack>
            )
          )}
          <Group justify="space-between" gap="sm" wrap={isComparing ? "wrap" : "nowrap"}>
            <Button
              flex="none"
              type="submit"
              loading={lanes.some(({ isPlacing }) => isPlacing)}
              leftSection={<IconPlayerPlay size={16} />}
              rightSection={
                <Kbd size="xs" visibleFrom="sm" aria-hidden>
                  Ctrl ↵
                </Kbd>
              }
              aria-keyshortcuts="Control+Enter"
            >
              {kind === null ? null : t(`go.${kind}`)}
            </Button>
            <Group gap="xl" align="flex-start">
              {lanes.map((lane) => (
                <QuoteLine
                  key={lane.name}
                  quote={lane.quote}
                  model={isComparing ? lane.modelId : undefined}
                />
              ))}
            </Group>
          </Group>
          <AdvancedPart
            {...fields}
            isOpen={isAdvanced}
            onToggle={() => setIsAdvanced(!isAdvanced)}
            focus={focus}
          />
        </Stack>
      </form>
    </Card>
  )
}
