// One import for JSON, from memory, files or an API, into a store.
@_exported public import HTTPSource
@_exported public import HTTPTransfer
@_exported public import JSONMapper
@_exported public import OneWaySynchronizer
@_exported public import StoreSync
@_exported public import SyncModel
@_exported public import SyncStore
