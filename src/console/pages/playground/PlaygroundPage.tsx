/**
 * The playground, where anybody with a key can try the models: writes, quotes and places an order,
 * of one model or of two that are compared, follows it and shows the result.
 */
import { Button, Card, Grid, Skeleton, Stack, Text, Title } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { IconCode } from "@tabler/icons-react"
import { lazy, Suspense, useMemo } from "react"
import { useTranslation } from "react-i18next"
import type { ModelEntry } from "../../../features/catalog/ModelsApi.ts"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { adaptDraft, type Draft, kindOfModel, newMessage, type TextApi } from "./form/draft.ts"
import { OrderForm } from "./form/OrderForm.tsx"
import { storedModel, useStoredDraft } from "./form/storedDraft.ts"
import { useAddress } from "./useAddress.ts"
import { type Lane, useLane } from "./useLane.ts"

// What is shown after an order is no part of what the first page loads.
const AnswerResult = lazy(async () => ({
  default: (await import("./result/AnswerResult.tsx")).AnswerResult
}))
const TaskResult = lazy(async () => ({
  default: (await import("./result/TaskResult.tsx")).TaskResult
}))
const OrderHistory = lazy(async () => ({
  default: (await import("./history/OrderHistory.tsx")).OrderHistory
}))
const CodeCard = lazy(async () => ({ default: (await import("./code/CodeCard.tsx")).CodeCard }))

const HEIGHT = 120

interface ResultProps {
  readonly lane: Lane
  readonly onReply: (text: string) => void
}

const Result = ({ lane, onReply }: ResultProps) => {
  const { t } = useTranslation("playground")
  const { answer, task, usual, stop } = lane
  if (answer === null && task === null) {
    return (
      <Card withBorder>
        <Text c="dimmed">{t("nothingYet")}</Text>
      </Card>
    )
  }
  return (
    <Suspense fallback={<Skeleton height={HEIGHT} />}>
      {answer !== null ? (
        <AnswerResult answer={answer} onStop={stop} onReply={onReply} />
      ) : task === null ? null : (
        <TaskResult key={task} id={task} usual={usual} />
      )}
    </Suspense>
  )
}

interface CodeProps {
  readonly lane: Lane
  readonly onTextApi: (textApi: TextApi) => void
}

const Code = ({ lane: { order }, onTextApi }: CodeProps) => {
  const { t } = useTranslation("playground")
  const [isOpen, { toggle }] = useDisclosure(false)
  if (order === null) return null
  return (
    <Stack gap="xs">
      <Button
        variant="subtle"
        size="compact-sm"
        style={{ alignSelf: "flex-start" }}
        leftSection={<IconCode size={16} />}
        aria-expanded={isOpen}
        onClick={toggle}
      >
        {t("code")}
      </Button>
      {isOpen ? (
        <Suspense fallback={<Skeleton height={HEIGHT} />}>
          <CodeCard order={order} onTextApi={onTextApi} />
        </Suspense>
      ) : null}
    </Stack>
  )
}

interface Props {
  readonly models: ReadonlyArray<ModelEntry>
  readonly model: ModelEntry
  readonly address: ReturnType<typeof useAddress>
}

const Playground = ({ models, model, address }: Props) => {
  const { t } = useTranslation("playground")
  const [draft, setDraft] = useStoredDraft(model.id, (stored) => adaptDraft(stored, model))
  const kind = kindOfModel(model)
  const other =
    models.find(
      (one) => one.id === address.second.model && one.id !== model.id && kindOfModel(one) === kind
    ) ?? null
  // The second model gets the options that it supports, and its defaults for the others.
  const otherDraft = useMemo(
    () => (other === null ? draft : adaptDraft(draft, other)),
    [draft, other]
  )
  const first = useLane("first", model, draft, address)
  const second = useLane("second", other, otherDraft, address)
  const lanes = other === null ? [first] : [first, second]

  const change = (patch: Partial<Draft>) => {
    setDraft((previous) => ({ ...previous, ...patch }))
    for (const lane of lanes) lane.reset()
  }
  const choose = (id: string) => {
    const nextModel = models.find((candidate) => candidate.id === id)
    if (nextModel === undefined) return
    if (id === other?.id || kindOfModel(nextModel) !== kind) compare(null)
    address.put("first", { model: id }, true)
    setDraft((previous) => adaptDraft(previous, nextModel))
    first.reset()
  }
  const compare = (id: string | null) => {
    address.put("second", { model: id, task: null, usual: null }, true)
    second.reset()
  }
  const reply = (text: string) => {
    change({ messages: [...draft.messages, newMessage("assistant", text), newMessage("user", "")] })
    // The field of the new message exists only after the next rendering.
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>('[data-field="messages"]')?.focus()
    )
  }
  const isComparing = other !== null
  return (
    <Grid gap="lg" align="flex-start">
      <Grid.Col span={isComparing ? 12 : { base: 12, md: 6, xl: 5 }}>
        <Stack>
          <OrderForm
            models={models}
            model={model}
            draft={draft}
            change={change}
            lanes={lanes}
            onChoose={choose}
            onCompare={compare}
          />
          {isComparing ? null : <Code lane={first} onTextApi={(textApi) => change({ textApi })} />}
        </Stack>
      </Grid.Col>
      {isComparing ? (
        lanes.map((lane) => (
          <Grid.Col key={lane.name} span={{ base: 12, xs: 6 }}>
            <Stack component="section" aria-label={t("resultOf", { model: lane.modelId })}>
              <Text fw={600}>{lane.modelId}</Text>
              <Result lane={lane} onReply={reply} />
            </Stack>
          </Grid.Col>
        ))
      ) : (
        <Grid.Col span={{ base: 12, md: 6, xl: 7 }}>
          <Stack>
            <Result lane={first} onReply={reply} />
            <Suspense>
              <OrderHistory
                shown={first.task}
                onOpen={({ id, model }) => {
                  first.forget()
                  address.put("first", { task: id, usual: null }, false)
                  if (model !== first.modelId) choose(model)
                }}
              />
            </Suspense>
          </Stack>
        </Grid.Col>
      )}
    </Grid>
  )
}

const ModelsView = ({ models }: { readonly models: ReadonlyArray<ModelEntry> }) => {
  const { t } = useTranslation("playground")
  const address = useAddress()
  const offered = models.filter((model) => kindOfModel(model) !== null)
  const named = address.first.model ?? storedModel()
  const model =
    offered.find(
      ({ id, aliases = [] }) => named !== null && (id === named || aliases.includes(named))
    ) ?? offered[0]
  return model === undefined ? (
    <Text>{t("noModels")}</Text>
  ) : (
    <Playground models={offered} model={model} address={address} />
  )
}

const PlaygroundPage = () => {
  const { t: shell } = useTranslation()
  const models = useApiQuery(["models"], (gateway) => gateway.models.list({ query: {} }))
  return (
    <Stack gap="sm">
      <Title order={1}>{shell("pages.playground")}</Title>
      <QueryView query={models} lines={8}>
        {({ data }) => <ModelsView models={data} />}
      </QueryView>
    </Stack>
  )
}
export default PlaygroundPage
