// `SQLNaming`, `AttributeConversion` and `SQLSchemaError` are part of the store's interface.
@_exported public import SyncStoreSQL
