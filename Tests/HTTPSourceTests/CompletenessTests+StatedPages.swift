import HTTPSource
import HTTPTransfer

extension CompletenessTests {
    /// Signs beside pages that are stated.
    static let signsBesideStatedPages: [Contradiction] = [
        Contradiction(
            "GitLab has the number of a next page and no link", .gitlab, "USERS",
            headers: ["X-Next-Page": "2", "X-Total-Pages": "3"], keeps: "X-Next-Page leads to a next page"),
        Contradiction(
            "GitLab names a last page and leads nowhere", .gitlab, "USERS",
            headers: ["Link": "</l?page=1>; rel=\"first\", </l?page=3&per_page=2>; rel=\"last\""],
            keeps: "the Link field names 3 as the number of the last page, and leads to no next one"),
        Contradiction(
            "the Link field of a single response names a last page", list(.single), #"{"data":USERS}"#,
            headers: ["Link": "</l?page=2>; rel=last"],
            keeps: "state how the next page is found, such as pages: .page(parameter: \"page\")"),
        Contradiction(
            "WordPress counts more", .wordpress,
            keeps: "the source counts 4 objects, and its pages had 2: if it is an estimate, or counts objects that are "
                + "not listed, choose isTotalExact: false"
        ) {
            .json($0 % 2 == 0 ? usersJSON([1, 2]) : "[]", headers: ["X-WP-Total": "4"])
        },
        Contradiction(
            "FHIR counts more", .fhir, keeps: "total counts 4 objects, and the response had 2: if it is an estimate"
        ) { _ in
            let entries = [1, 2].map { #"{"resource":{"id":\#($0),"name":"user \#($0)"}}"# }.joined(separator: ",")
            return .json(#"{"total":4,"link":[{"relation":"self","url":"/list"}],"entry":[\#(entries)]}"#)
        },
        Contradiction(
            "HubSpot counts more", .hubspot, #"{"total":4,"results":USERS}"#, keeps: "total counts 4 objects"),
        Contradiction(
            "Bitbucket counts more", .bitbucket, #"{"size":4,"values":USERS}"#, keeps: "the source counts 4 objects"),
        Contradiction(
            "OData counts more", .odata, #"{"@odata.count":4,"value":USERS}"#, keeps: "counts 4 objects"),
        Contradiction("JSON:API counts more", .jsonapi, keeps: "meta.total counts 4 objects") { _ in
            let users = [1, 2].map { #"{"type":"users","id":"\#($0)","attributes":{"name":"user \#($0)"}}"# }
            return .json(#"{"data":[\#(users.joined(separator: ","))],"meta":{"total":4}}"#)
        },
        Contradiction(
            "GraphQL counts more", .graphQL("q", connection: "users"),
            #"{"data":{"users":{"totalCount":4,"nodes":USERS,"pageInfo":{"hasNextPage":false,"endCursor":null}}}}"#,
            keeps: "data.users.totalCount counts 4 objects"),
        Contradiction(
            "Kubernetes has remaining items and no token", .kubernetes,
            #"{"metadata":{"continue":"","remainingItemCount":2},"items":USERS}"#,
            keeps: "metadata.remainingItemCount counts 2 more objects"),
        Contradiction(
            "has_more beside a Link field", list(.link), #"{"data":USERS,"has_more":true,"next":"/list?page=2"}"#,
            fails: "Link, is unsuitable: absent, although has_more says that more pages follow"),
        Contradiction(
            "has_more beside a cursor that may be absent",
            list(.cursor(keyPath: "next_cursor", parameter: "after").omittingLastPointer()),
            #"{"data":USERS,"has_more":true,"total":4}"#, fails: "next_cursor, is unsuitable: absent, although has_more"
        ),
        Contradiction(
            "isLastPage beside an address that may be absent", list(.linkField(keyPath: "next").omittingLastPointer()),
            #"{"data":USERS,"isLastPage":false}"#,
            fails: "next, is unsuitable: absent, although isLastPage says that more pages follow"),
        Contradiction("has_more beside an empty page", list(.offset(parameter: "o")), fails: "although has_more says") {
            .json(#"{"data":\#($0 % 2 == 0 ? usersJSON([1, 2]) : "[]"),"has_more":true}"#)
        },
        Contradiction(
            "has_more beside another sign of the end",
            list(.cursor(keyPath: "next", parameter: "after").ending(.set(keyPath: "done"))),
            #"{"data":USERS,"next":"2","done":true,"has_more":true}"#,
            keeps: "page 1 is said to be the last, although has_more says that more follow"),
        Contradiction(
            "a count beside an address", list(.linkField(keyPath: "next")), #"{"count":4,"next":null,"data":USERS}"#,
            keeps: "count counts 4 objects, and the response had 2"),
        Contradiction(
            "an address beside a cursor", list(.cursor(keyPath: "cursor", parameter: "c").omittingLastPointer()),
            #"{"data":USERS,"links":{"next":"/list?page=2"}}"#, keeps: "links.next leads to a next page"),
        Contradiction("a number of pages beside an empty page", list(numbered), keeps: "meta.last_page counts 3 pages")
        {
            .json(#"{"data":\#($0 % 2 == 0 ? usersJSON([1, 2]) : "[]"),"meta":{"current_page":2,"last_page":3}}"#)
        },
        Contradiction(
            "each object twice in a single response", list(.single), #"{"data":\#(usersJSON([1, 2, 2, 1])),"total":4}"#,
            keeps: "the source counts 4 objects, and its pages had 2 different ones"),
    ]

    /// Signs with other names, and flags of the last page that are false.
    private static let otherSigns: [(members: String, said: String)] = [
        (#""isLastPage":false,"start":0,"nextPageStart":3"#, "isLastPage says that more pages follow"),
        (#""last":false,"first":true,"number":0,"size":2"#, "last says that more pages follow"),
        (#""isLast":false"#, "isLast says that more pages follow"),
        (#""is_last":"false""#, "is_last says that more pages follow"),
        (#""done":false"#, "done says that more pages follow"),
        (#""has_next_page":true"#, "has_next_page says that more pages follow"),
        (#""moreItems":true"#, "moreItems says that more pages follow"),
        (#""HasMore":1"#, "HasMore says that more pages follow"),
        (#""continuationToken":"abc""#, #"choose pages: .cursor(keyPath: "continuationToken", parameter: …)"#),
        (#""pages":{"current":1,"next":"/list?page=2"}"#, #"choose pages: .linkField(keyPath: "pages.next")"#),
        (#""NextPageLink":"/list?page=2""#, #"choose pages: .linkField(keyPath: "NextPageLink")"#),
        (#""page":1,"pageCount":3"#, #"choose pages: .page(parameter: "page")"#),
        (#""totalRecords":9,"pageNumber":1"#, "totalRecords counts 9 objects, and the response had 2"),
        (#""TotalCount":9"#, "TotalCount counts 9 objects, and the response had 2"),
        (#""recordsTotal":9,"recordsFiltered":9"#, "recordsTotal counts 9 objects, and the response had 2"),
        (#""Meta":{"total-count":9}"#, "Meta.total-count counts 9 objects, and the response had 2"),
    ]

    /// Signs with other names beside a single response.
    static let signsByOtherNames = otherSigns.map { sign in
        Contradiction(sign.members, list(.single), #"{"data":USERS,\#(sign.members)}"#, keeps: sign.said)
    }
}
