public import Foundation

extension HTTPAPI {
    /// How a server divides a list into pages.
    ///
    ///     .link                                                  // Link: <…>; rel="next"
    ///     .cursor(keyPath: "meta.next", parameter: "after")
    ///     .page(parameter: "page").ending(.shortPage)
    ///
    /// The order of the pages does not matter, and an object may be on several pages: the last one
    /// counts. If the server does not count the objects, such pages prove no absence, unless
    /// ``HTTPAPI/isSnapshot`` is set. A key path consists of keys separated by dots. A backslash
    /// escapes a dot within a key, as in `@odata\.nextLink`.
    ///
    /// The pages end at a sign of the last page, or where nothing leads to a next page. If a value
    /// such as `has_more` indicates that more pages follow, and nothing leads there, the sync
    /// fails. In the case of other contradictions, absent objects are kept and the result states
    /// the reason: fewer objects or pages were read than the server counts, the pointer to the next
    /// page was on no page, a usual sign such as `next` or `X-Next-Page` leads on from the last
    /// page, or its `Link` field leads to a next page or cannot be read.
    public struct Pages: Sendable {
        /// The value that leads to the next page.
        enum Pointer: Sendable {
            case none
            /// The `Link` field of the head.
            case linkHeader
            /// A header field.
            case header(name: String)
            /// A value outside the objects.
            case field(keyPath: String)
            /// The address in that link of a list of links whose relation is `next`.
            case linkList(keyPath: String, relation: String, address: String)
            /// A value of the last object.
            case lastElement(keyPath: String)
            /// The number of the page.
            case number(first: Int)
            /// The number of objects before the page.
            case offset
            /// The only known scheme that fits a page of a list at a key path.
            case automatic(keyPath: String)
            case custom(capturing: [String], next: @Sendable (Page) throws -> URL?)
        }

        /// The place of the value in the request for the next page.
        enum Place: Hashable, Sendable {
            /// The value is the address itself.
            case address
            case query(parameter: String)
            /// The value is an object, whose members are parameters.
            case parameters
            case body(keyPath: String)
        }

        /// A query parameter that sets the number of objects per page.
        public struct Size: Hashable, Sendable {
            /// The name of the parameter.
            public var parameter: String
            /// The number of objects.
            public var count: Int

            /// Creates a size.
            public init(parameter: String, count: Int) {
                self.parameter = parameter
                self.count = count
            }
        }

        /// A sign that a page is the last one.
        public enum End: Hashable, Sendable {
            /// The page has fewer objects than the previous page, and nothing indicates that more
            /// pages follow.
            case shortPage
            /// A value outside the objects is false or absent, such as `has_more`. If it is true,
            /// more pages follow.
            case unset(keyPath: String)
            /// A value outside the objects is true, such as `done`. If it is false, more pages
            /// follow.
            case set(keyPath: String)
            /// The page's number has reached the number of pages in a header field, such as
            /// `X-WP-TotalPages`. Until then, more pages follow.
            case pageCount(header: String)
            /// The number of objects read has reached the number in a value outside the objects.
            case total(keyPath: String)
            /// The request for the next page has one of these statuses instead of a page, such as
            /// 404 or 204, and nothing indicates that more pages follow.
            ///
            /// If the server reports all pages as unchanged, the last one and the page after it are
            /// requested once more, because an unchanged page does not show that it is the last.
            case status(Set<Int>)
        }

        var pointer: Pointer
        let place: Place
        private(set) var size: Size?
        private(set) var ends: [End] = []
        /// Whether the last page may lack the pointer, so that its absence is not reported.
        private(set) var mayLackPointer = false
        /// Whether an http link to the origin's host is followed by https.
        private(set) var upgradesLinks = false
        /// The reference of the address of all pages after the first; nil for the same address.
        private(set) var continuation: String?
        /// The usual signs of further pages beside the list; nil if nothing is beside it, or until
        /// its key path is known.
        var usualSigns: UnreadPages?

        private init(_ pointer: Pointer, at place: Place = .address, size: Size? = nil) {
            self.pointer = pointer
            self.place = place
            self.size = size
        }

        /// A single response with all objects.
        public static let single = HTTPAPI.Pages(.none)
        /// A list whose next page is found by the usual signs: the `Link` field, an address or a
        /// number in the usual places of the body or the head, or a cursor with its usual
        /// parameter.
        ///
        /// An address of the next page takes precedence over a number or a cursor, which many
        /// servers send as well. Several signs that lead to the same page are one way.
        ///
        /// A page is followed by another one only if exactly one way leads there. The result's
        /// warnings name it, and it is faster and safer to state it. If several ways lead on, or if
        /// the server counts more objects than its pages have and nothing leads there, absent
        /// objects are kept, and the result says why.
        public static let automatic = HTTPAPI.Pages(.automatic(keyPath: ""))
        /// A list whose `Link` field leads to the next page with `rel="next"` (RFC 8288). A
        /// field that cannot be read is an error.
        public static let link = HTTPAPI.Pages(.linkHeader)

        /// A list whose pages contain the address of the next page.
        ///
        /// The value may also be an object with an `href`, as in JSON:API. Null, false, an empty
        /// text and absence mean the last page. Any other value is an error.
        public static func linkField(keyPath: String) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.field(keyPath: keyPath))
        }

        /// A list whose pages contain links by relation, as in FHIR, STAC and OGC APIs.
        ///
        ///     [{"rel": "self", "href": "…"}, {"rel": "next", "href": "…"}]
        ///
        /// The link with the relation `next` leads to the next page. Without it, the page is the
        /// last.
        ///
        /// - Parameters:
        ///   - keyPath: The key path of the list of links.
        ///   - relation: The key of a link's relation; `rel` by default.
        ///   - address: The key of a link's address; `href` by default.
        public static func links(keyPath: String, relation: String = "rel", address: String = "href") -> HTTPAPI.Pages {
            HTTPAPI.Pages(.linkList(keyPath: keyPath, relation: relation, address: address))
        }

        /// A list where a header field has the address of the next page, as in Kinto.
        ///
        /// Without the field, the page is the last.
        public static func link(header: String) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.header(name: header))
        }

        /// A list where a header field becomes a query parameter of the next request, as in Azure
        /// DevOps.
        ///
        /// Without the field, or if it is empty, the page is the last.
        public static func cursor(header: String, parameter: String) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.header(name: header), at: .query(parameter: parameter))
        }

        /// A list whose pages contain an object, the members of which become query parameters of
        /// the next request, as in MediaWiki.
        ///
        /// The members are texts or numbers. Without the object, the page is the last.
        public static func parameters(keyPath: String) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.field(keyPath: keyPath), at: .parameters)
        }

        /// A list whose pages contain a value that becomes a query parameter of the next request.
        ///
        /// The value is a text or a number. Null, false, an empty text and absence mean the last
        /// page. Any other value is an error.
        public static func cursor(keyPath: String, parameter: String) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.field(keyPath: keyPath), at: .query(parameter: parameter))
        }

        /// A list whose pages contain a value that becomes a value in the next request's body.
        ///
        /// Examples are GraphQL, and DynamoDB, whose cursor is an object.
        public static func cursor(keyPath: String, bodyKeyPath: String) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.field(keyPath: keyPath), at: .body(keyPath: bodyKeyPath))
        }

        /// A list where a value of each page's last object becomes a query parameter of the next
        /// request.
        ///
        /// An empty page is the last.
        public static func lastElement(keyPath: String, parameter: String, size: Size? = nil) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.lastElement(keyPath: keyPath), at: .query(parameter: parameter), size: size)
        }

        /// A list where a value of each page's last object becomes a value in the next request's
        /// body.
        ///
        /// An example is Elasticsearch's `search_after`. An empty page is the last.
        public static func lastElement(keyPath: String, bodyKeyPath: String) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.lastElement(keyPath: keyPath), at: .body(keyPath: bodyKeyPath))
        }

        /// A list of numbered pages, where an empty page is the last.
        public static func page(parameter: String, first: Int = 1, size: Size? = nil) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.number(first: first), at: .query(parameter: parameter), size: size)
        }

        /// A list whose pages are requested by the number of objects before them.
        ///
        /// An empty page is the last. Each page begins where the previous page ended, regardless of
        /// the number of objects that the server returned.
        public static func offset(parameter: String, size: Size? = nil) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.offset, at: .query(parameter: parameter), size: size)
        }

        /// A list whose next address a function returns; nil after the last page.
        ///
        /// The function receives the values at some key paths outside the objects of the previous
        /// page.
        public static func custom(
            capturing: [String] = [], next: @escaping @Sendable (Page) throws -> URL?
        ) -> HTTPAPI.Pages {
            HTTPAPI.Pages(.custom(capturing: capturing, next: next))
        }

        /// Returns the same pages with additional signs of the last page.
        public func ending(_ ends: End...) -> HTTPAPI.Pages {
            with { $0.ends += ends }
        }

        /// Returns the same pages with a number of objects that each page is requested with.
        ///
        /// The server may return fewer objects, on any page: that is no sign that a page lacks
        /// some. More objects per page need fewer requests.
        public func requesting(_ count: Int, by parameter: String) -> HTTPAPI.Pages {
            with { $0.size = Size(parameter: parameter, count: count) }
        }

        /// Returns the same pages, for a server behind a proxy that ends TLS, whose links begin
        /// with `http:`.
        ///
        /// A link to the host of the page that contains it is then followed by https, at the port
        /// of that page. By default, a link that leaves https is an error.
        public func upgradingLinks() -> HTTPAPI.Pages {
            with { $0.upgradesLinks = true }
        }

        /// Returns the same pages, for a server whose pages after the first have an address of
        /// their own, as in Dropbox.
        ///
        /// A later page is requested with its number or cursor only: the query and the body of the
        /// first page, and the page size, are not sent again. Pages that are found by an address
        /// need no other one, and ignore the reference.
        ///
        /// - Parameter reference: An absolute address, or one relative to the source's address (RFC
        ///   3986, section 5), such as `list_folder/continue`. Only the source's origin receives
        ///   its credentials. An address that is not http or https is an error of the second page.
        public func continuing(at reference: String) -> HTTPAPI.Pages {
            with { $0.continuation = reference }
        }

        /// Returns the same pages, for a server whose last page omits the pointer or an
        /// ``End/unset(keyPath:)`` value.
        ///
        /// Otherwise, if such a value is on no page of a full pass, this is reported and absent
        /// objects are kept, because the key path may be misspelled.
        public func omittingLastPointer() -> HTTPAPI.Pages {
            with { $0.mayLackPointer = true }
        }

        private func with(_ change: (inout HTTPAPI.Pages) -> Void) -> HTTPAPI.Pages {
            var pages = self
            change(&pages)
            return pages
        }
    }
}
