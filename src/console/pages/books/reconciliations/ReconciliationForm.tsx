/** A form that uploads a vendor's list, with the options for reading it. */
import {
  Autocomplete,
  Button,
  FileInput,
  Group,
  Modal,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput
} from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Schema } from "effect"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ReconciliationView } from "../../../../features/reconciliations/ReconciliationsApi.ts"
import {
  decimalSigns,
  delimiters,
  listEncodings,
  listFormats,
  thousandsSigns
} from "../../../../features/reconciliations/vendorLists.ts"
import { decodeDetails, failureOf } from "../../../gateway/failures.ts"
import { request } from "../../../gateway/files.ts"
import { useSession } from "../../../gateway/hooks.tsx"
import { useCatalog } from "../../../gateway/useCatalog.ts"
import { RowTable } from "../../../parts/DataTable.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { columnsOf } from "./listColumns.ts"

const Faults = Schema.Struct({
  faults: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      message: Schema.String,
      line: Schema.optionalKey(Schema.Int)
    })
  )
})

/** The faults of the list, by line. */
const ListFaults = ({ error }: { readonly error: unknown }) => {
  const { t } = useTranslation("books")
  const faults = decodeDetails(failureOf(error), Faults)?.faults ?? []
  return (
    <Stack gap="xs">
      <FailureNote error={error} />
      {faults.length === 0 ? null : (
        <RowTable
          label={t("reconcile.faults")}
          rows={faults}
          columns={[
            { name: "line", label: t("reconcile.line"), cell: ({ line }) => line ?? "" },
            {
              name: "column",
              label: t("reconcile.column"),
              cell: ({ path }) => <span className="said">{path}</span>
            },
            {
              name: "message",
              label: t("reconcile.fault"),
              cell: ({ message }) => <span className="said">{message}</span>
            }
          ]}
        />
      )}
    </Stack>
  )
}

const columnNames = ["id", "amount", "units", "currency"] as const
const formats = ["own", "vp_a", "vp_f", "ip_b"] as const
const signs = {
  decimal: Object.keys(decimalSigns),
  thousands: Object.keys(thousandsSigns),
  delimiter: Object.keys(delimiters)
}

const today = (): string => new Date().toISOString().slice(0, 10)

const initialValues: {
  file: File | null
  channel: string
  from: string
  to: string
  format: string
  id: string
  amount: string
  units: string
  currency: string
  decimal: string
  thousands: string
  delimiter: string
  encoding: string
} = {
  file: null,
  channel: "",
  from: `${today().slice(0, 7)}-01`,
  to: today(),
  format: "own",
  ...{ id: "", amount: "", units: "", currency: "" },
  ...{ decimal: "point", thousands: "none", delimiter: "auto", encoding: "auto" }
}
type Values = typeof initialValues

/** Values that mean a default, which are left out of the address. */
const defaultValues = new Set(["", "own", "none", "auto"])

const addressOf = ({ file: _, ...values }: Values): string =>
  `/admin/v1/reconciliations?${new URLSearchParams(
    Object.entries(values)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([, value]) => !defaultValues.has(value))
      .map(([name, value]) => [name, value])
  )}`

const useProblems = () => {
  const { t } = useTranslation("books")
  const requireText = (text: string) => (text.trim() === "" ? t("form.needed") : null)
  const isOwn = ({ format }: Values) => format === "own"
  return {
    file: (file: File | null) => (file === null ? t("form.needed") : null),
    channel: requireText,
    from: requireText,
    to: (to: string, { from }: Values) => (to < from ? t("reconcile.wrongDays") : requireText(to)),
    id: (text: string, values: Values) => (isOwn(values) ? requireText(text) : null),
    amount: (text: string, values: Values) =>
      isOwn(values) && text.trim() === "" && values.units.trim() === ""
        ? t("reconcile.amountOrUnits")
        : null
  }
}

const decode = Schema.decodeUnknownPromise(ReconciliationView)

const ListForm = ({
  onCreate,
  onClose
}: {
  readonly onCreate: (id: string) => void
  readonly onClose: () => void
}) => {
  const { t } = useTranslation("books")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const cache = useQueryClient()
  const [columns, setColumns] = useState<ReadonlyArray<string>>([])
  const channels = useCatalog()
  const form = useForm({ initialValues, validate: useProblems() })
  const reconcile = useMutation({
    mutationFn: async (values: Values) => {
      // The file itself is sent: the gateway reads it as a stream, in its own encoding.
      const response = await request(session, addressOf(values), {
        method: "POST",
        body: values.file,
        headers: { "content-type": "text/csv" }
      })
      return decode(await response.json())
    },
    onSuccess: async ({ id }) => {
      await cache.invalidateQueries({ queryKey: ["books", "reconciliations"] })
      onCreate(id)
    }
  })
  const take = async (file: File | null, encoding: string) => {
    setColumns(file === null ? [] : await columnsOf(file, encoding === "auto" ? null : encoding))
  }
  const { format } = form.values
  const usual =
    format === "vp_a" || format === "vp_f" || format === "ip_b" ? listFormats[format] : null
  return (
    <form onSubmit={form.onSubmit((values) => reconcile.mutate(values))} noValidate>
      <Stack>
        <FileInput
          label={t("reconcile.file")}
          description={t("reconcile.fileNote")}
          placeholder={t("reconcile.choose")}
          accept=".csv,text/csv,text/plain"
          clearable
          {...form.getInputProps("file")}
          onChange={(file) => {
            form.setFieldValue("file", file)
            void take(file, form.values.encoding)
          }}
        />
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <Select
            label={t("reconcile.channel")}
            searchable
            data={(channels.data?.channels ?? []).map(({ id, name }) => ({
              value: id,
              label: `${name} (${id})`
            }))}
            {...form.getInputProps("channel")}
          />
          <TextInput type="date" label={t("reconcile.from")} {...form.getInputProps("from")} />
          <TextInput type="date" label={t("reconcile.to")} {...form.getInputProps("to")} />
        </SimpleGrid>
        <Select
          label={t("reconcile.format")}
          description={t("reconcile.formatNote")}
          allowDeselect={false}
          data={formats.map((value) => ({
            value,
            label: value === "own" ? t("reconcile.own") : value
          }))}
          {...form.getInputProps("format")}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          {columnNames.map((name) => (
            <Autocomplete
              key={name}
              label={t(`reconcile.columns.${name}`)}
              placeholder={usual?.[name] ?? ""}
              data={[...columns]}
              {...form.getInputProps(name)}
            />
          ))}
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          {(["decimal", "thousands", "delimiter"] as const).map((name) => (
            <Select
              key={name}
              label={t(`reconcile.signs.${name}`)}
              allowDeselect={false}
              data={[
                ...(name === "thousands"
                  ? [{ value: "none", label: t("reconcile.sign.none") }]
                  : name === "delimiter"
                    ? [{ value: "auto", label: t("reconcile.sign.auto") }]
                    : []),
                ...signs[name].map((value) => ({
                  value,
                  label: t("reconcile.sign.named", { context: value })
                }))
              ]}
              {...form.getInputProps(name)}
            />
          ))}
          <Select
            label={t("reconcile.encoding")}
            allowDeselect={false}
            data={[
              { value: "auto", label: t("reconcile.sign.auto") },
              ...listEncodings.map((value) => ({ value, label: value }))
            ]}
            {...form.getInputProps("encoding")}
            onChange={(encoding) => {
              form.setFieldValue("encoding", encoding ?? "auto")
              void take(form.values.file, encoding ?? "auto")
            }}
          />
        </SimpleGrid>
        <Text size="sm" c="dimmed">
          {t("reconcile.note")}
        </Text>
        {reconcile.error === null ? null : <ListFaults error={reconcile.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {shell("cancel")}
          </Button>
          <Button type="submit" loading={reconcile.isPending}>
            {t("reconcile.go")}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export const ReconcileButton = ({ onCreate }: { readonly onCreate: (id: string) => void }) => {
  const { t } = useTranslation("books")
  const { t: shell } = useTranslation()
  const [isOpen, setIsOpen] = useState(false)
  const close = () => setIsOpen(false)
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{t("reconcile.open")}</Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t("reconcile.open")}
        size="lg"
        closeButtonProps={{ "aria-label": shell("close") }}
      >
        <ListForm onCreate={onCreate} onClose={close} />
      </Modal>
    </>
  )
}
