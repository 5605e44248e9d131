/**
 * The playground, where anybody with a key can try the models: writes, quotes and places an order,
 * follows it and shows the result.
 */
import { Alert, Button, Card, Grid, Stack, Text, Title } from "@mantine/core"
import { IconPlayerPlay } from "@tabler/icons-react"
import { useMemo, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { useSearchParams } from "wouter"
import type { ModelEntry } from "../../../features/catalog/ModelsApi.ts"
import { failureOf } from "../../gateway/failures.ts"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { CodeCard } from "./code/CodeCard.tsx"
import {
  adaptDraft,
  type Draft,
  emptyDraft,
  generateId,
  kindOfModel,
  newMessage,
  orderOf
} from "./form/draft.ts"
import { type Field, formFaultsOf } from "./form/faults.ts"
import { ModelChoice } from "./form/ModelChoice.tsx"
import { OrderForm } from "./form/OrderForm.tsx"
import { QuoteCard, useQuote } from "./form/QuoteCard.tsx"
import { RefusalNote } from "./form/RefusalNote.tsx"
import { TaskResult } from "./result/TaskResult.tsx"
import { TextResult } from "./result/TextResult.tsx"
import { usePlaceOrder } from "./result/usePlaceOrder.ts"

const TASK = /^(?:vt|im)_[0-9a-f-]{36}$/

/** The selected model and the followed order, both stored in the address. */
const useAddress = () => {
  const [search, setSearch] = useSearchParams()
  const task = search.get("task")
  const usual = Number(search.get("usual") ?? Number.NaN)
  const update = (entries: Readonly<Record<string, string | null>>, replace: boolean) =>
    setSearch(
      (previous) => {
        const nextModel = new URLSearchParams(previous)
        for (const [name, value] of Object.entries(entries)) {
          if (value === null) nextModel.delete(name)
          else nextModel.set(name, value)
        }
        return nextModel
      },
      { replace }
    )
  return {
    model: search.get("model"),
    task: task !== null && TASK.test(task) ? task : null,
    usual: Number.isFinite(usual) ? usual : null,
    put: update
  }
}

interface Props {
  readonly models: ReadonlyArray<ModelEntry>
  readonly first: ModelEntry
}

const TaskView = ({
  task,
  usual
}: {
  readonly task: string | null
  readonly usual: number | null
}) => {
  const { t } = useTranslation("playground")
  return task === null ? (
    <Card withBorder>
      <Text c="dimmed">{t("nothingYet")}</Text>
    </Card>
  ) : (
    <TaskResult key={task} id={task} usual={usual} />
  )
}

const isUnreachable = (error: unknown): boolean =>
  error !== null && failureOf(error).code === "unreachable"

/**
 * The message of a field's fault where there are several faults. A single fault is explained below
 * the form.
 */
const fieldError = (field: Field, faults: ReturnType<typeof formFaultsOf>): string | boolean => {
  const fault = faults.find((candidate) => candidate.field === field)
  return faults.length > 1 && fault !== undefined ? fault.message : fault !== undefined
}

const Playground = ({ models, first }: Props) => {
  const { t } = useTranslation("playground")
  const address = useAddress()
  const model = models.find(({ id }) => id === address.model) ?? first
  const kind = kindOfModel(model)
  const [draft, setDraft] = useState(() => adaptDraft(emptyDraft(), model))
  const order = useMemo(
    () => (kind === null ? null : orderOf(kind, model.id, draft)),
    [kind, model.id, draft]
  )
  const isText = kind === "chat" || kind === "embedding"
  const quote = useQuote(model.id, order)
  const usual = quote.query.data
  const usualSeconds = usual !== undefined && "usual_seconds" in usual ? usual.usual_seconds : null
  const { placing, answer, stop } = usePlaceOrder((id) =>
    address.put(
      { model: model.id, task: id, usual: usualSeconds === null ? null : String(usualSeconds) },
      false
    )
  )
  const form = useRef<HTMLFormElement>(null)
  const show = (field: Field) =>
    form.current?.querySelector<HTMLElement>(`[data-field="${field}"]`)?.focus()

  const change = (patch: Partial<Draft>) => {
    setDraft((previous) => ({ ...previous, ...patch }))
    if (placing.isError) placing.reset()
  }
  const choose = (id: string) => {
    const nextModel = models.find((candidate) => candidate.id === id)
    if (nextModel === undefined) return
    address.put({ model: id }, true)
    setDraft((previous) => adaptDraft(previous, nextModel))
    placing.reset()
  }
  const reply = (text: string) => {
    change({ messages: [...draft.messages, newMessage("assistant", text), newMessage("user", "")] })
    // The field of the new message exists only after the next rendering.
    requestAnimationFrame(() => show("messages"))
  }
  const refusal = placing.error ?? quote.query.error
  const faults = refusal === null ? [] : formFaultsOf(refusal)
  const submit = () => {
    if (order === null || placing.isPending) return
    // The result of a text model can be read only once, so it has no address.
    if (isText) address.put({ task: null, usual: null }, true)
    placing.mutate(
      { order, model: model.id, key: generateId() },
      {
        onError: (error) => {
          const [fault] = formFaultsOf(error)
          if (fault !== undefined) show(fault.field)
        }
      }
    )
  }
  const failedOrder = isUnreachable(placing.error) ? placing.variables : undefined
  return (
    <Grid gap="lg" align="flex-start">
      <Grid.Col span={{ base: 12, md: 6, xl: 5 }}>
        <Card withBorder>
          <form
            ref={form}
            noValidate
            aria-label={t("form")}
            onSubmit={(event) => {
              event.preventDefault()
              submit()
            }}
          >
            <Stack>
              <ModelChoice models={models} model={model} onChoose={choose} />
              {order === null ? (
                <Alert color="gray">{t("notOpen")}</Alert>
              ) : (
                <>
                  <OrderForm
                    model={model}
                    draft={draft}
                    change={change}
                    errorOf={(field) => fieldError(field, faults)}
                  />
                  {refusal === null ? null : (
                    <RefusalNote
                      error={refusal}
                      change={change}
                      onShow={show}
                      onRetry={
                        failedOrder === undefined ? undefined : () => placing.mutate(failedOrder)
                      }
                    />
                  )}
                  <QuoteCard quote={quote} />
                  <Button
                    type="submit"
                    loading={placing.isPending}
                    leftSection={<IconPlayerPlay size={16} />}
                  >
                    {t(`go.${order.kind}`)}
                  </Button>
                </>
              )}
            </Stack>
          </form>
        </Card>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6, xl: 7 }}>
        <Stack>
          {answer !== null ? (
            <TextResult answer={answer} onStop={stop} onReply={reply} />
          ) : (
            <TaskView task={address.task} usual={address.usual} />
          )}
          {order === null ? null : <CodeCard order={order} />}
        </Stack>
      </Grid.Col>
    </Grid>
  )
}

const PlaygroundPage = () => {
  const { t } = useTranslation("playground")
  const { t: shell } = useTranslation()
  const models = useApiQuery(["models"], (gateway) => gateway.models.list({ query: {} }))
  return (
    <Stack>
      <Title order={1}>{shell("pages.playground")}</Title>
      <QueryView query={models} lines={8}>
        {({ data }) => {
          const first = data.find((model) => kindOfModel(model) !== null) ?? data[0]
          return first === undefined ? (
            <Text>{t("noModels")}</Text>
          ) : (
            <Playground models={data} first={first} />
          )
        }}
      </QueryView>
    </Stack>
  )
}
export default PlaygroundPage
