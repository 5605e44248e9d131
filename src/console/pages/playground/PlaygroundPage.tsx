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
import { useAsk } from "../../gateway/hooks.tsx"
import { Asked } from "../../parts/Asked.tsx"
import { CodeCard } from "./code/CodeCard.tsx"
import { type Draft, emptyDraft, fitted, kindOfModel, newId, orderOf, says } from "./form/draft.ts"
import { type Field, faultsIn } from "./form/faults.ts"
import { ModelChoice } from "./form/ModelChoice.tsx"
import { OrderForm } from "./form/OrderForm.tsx"
import { QuoteCard, useQuote } from "./form/QuoteCard.tsx"
import { RefusalNote } from "./form/RefusalNote.tsx"
import { TaskResult } from "./result/TaskResult.tsx"
import { TextResult } from "./result/TextResult.tsx"
import { useOrdering } from "./result/useOrdering.ts"

const TASK = /^(?:vt|im)_[0-9a-f-]{36}$/

/** The selected model and the followed order, both stored in the address. */
const usePlace = () => {
  const [search, setSearch] = useSearchParams()
  const task = search.get("task")
  const usual = Number(search.get("usual") ?? Number.NaN)
  const put = (entries: Readonly<Record<string, string | null>>, replace: boolean) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before)
        for (const [name, value] of Object.entries(entries)) {
          if (value === null) next.delete(name)
          else next.set(name, value)
        }
        return next
      },
      { replace }
    )
  return {
    model: search.get("model"),
    task: task !== null && TASK.test(task) ? task : null,
    usual: Number.isFinite(usual) ? usual : null,
    put
  }
}

interface Props {
  readonly models: ReadonlyArray<ModelEntry>
  readonly first: ModelEntry
}

const TaskOrNothing = ({
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
const errorAt = (field: Field, faults: ReturnType<typeof faultsIn>): string | boolean => {
  const fault = faults.find((one) => one.field === field)
  return faults.length > 1 && fault !== undefined ? fault.message : fault !== undefined
}

const Playground = ({ models, first }: Props) => {
  const { t } = useTranslation("playground")
  const place = usePlace()
  const model = models.find(({ id }) => id === place.model) ?? first
  const kind = kindOfModel(model)
  const [draft, setDraft] = useState(() => fitted(emptyDraft(), model))
  const order = useMemo(
    () => (kind === null ? null : orderOf(kind, model.id, draft)),
    [kind, model.id, draft]
  )
  const isText = kind === "chat" || kind === "embedding"
  const quote = useQuote(model.id, order)
  const usual = quote.query.data
  const usualSeconds = usual !== undefined && "usual_seconds" in usual ? usual.usual_seconds : null
  const { placing, answer, stop } = useOrdering((id) =>
    place.put(
      { model: model.id, task: id, usual: usualSeconds === null ? null : String(usualSeconds) },
      false
    )
  )
  const form = useRef<HTMLFormElement>(null)
  const show = (field: Field) =>
    form.current?.querySelector<HTMLElement>(`[data-field="${field}"]`)?.focus()

  const change = (patch: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...patch }))
    if (placing.isError) placing.reset()
  }
  const choose = (id: string) => {
    const next = models.find((one) => one.id === id)
    if (next === undefined) return
    place.put({ model: id }, true)
    setDraft((before) => fitted(before, next))
    placing.reset()
  }
  const reply = (text: string) => {
    change({ messages: [...draft.messages, says("assistant", text), says("user", "")] })
    // The field of the new message exists only after the next rendering.
    requestAnimationFrame(() => show("messages"))
  }
  const refusal = placing.error ?? quote.query.error
  const faults = refusal === null ? [] : faultsIn(refusal)
  const submit = () => {
    if (order === null || placing.isPending) return
    // The result of a text model can be read only once, so it has no address.
    if (isText) place.put({ task: null, usual: null }, true)
    placing.mutate(
      { order, model: model.id, key: newId() },
      {
        onError: (error) => {
          const [fault] = faultsIn(error)
          if (fault !== undefined) show(fault.field)
        }
      }
    )
  }
  const lost = isUnreachable(placing.error) ? placing.variables : undefined
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
                    errorOf={(field) => errorAt(field, faults)}
                  />
                  {refusal === null ? null : (
                    <RefusalNote
                      error={refusal}
                      change={change}
                      onShow={show}
                      onAgain={lost === undefined ? undefined : () => placing.mutate(lost)}
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
            <TaskOrNothing task={place.task} usual={place.usual} />
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
  const models = useAsk(["models"], (gateway) => gateway.models.list({ query: {} }))
  return (
    <Stack>
      <Title order={1}>{shell("pages.playground")}</Title>
      <Asked query={models} lines={8}>
        {({ data }) => {
          const first = data.find((model) => kindOfModel(model) !== null) ?? data[0]
          return first === undefined ? (
            <Text>{t("noModels")}</Text>
          ) : (
            <Playground models={data} first={first} />
          )
        }}
      </Asked>
    </Stack>
  )
}
export default PlaygroundPage
