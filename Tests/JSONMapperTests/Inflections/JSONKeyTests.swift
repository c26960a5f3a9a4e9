import JSONMapper
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct JSONKeyTests {
    @Test(
        arguments: [
            ("age", "age"), ("id", "id"), ("pdf", "pdf"), ("driver_identifier", "driverIdentifier"),
            ("integer16", "integer16"),
            ("user_id", "userID"), ("updated_at", "updatedAt"), ("updated_url", "updatedURL"),
            ("user_id_first", "userIDFirst"),
            ("GreenWallet", "greenWallet"), ("FirstName", "firstName"), ("first_name", "firstName"), ("_id", "id"),
            ("id_card", "idCard"),
            ("first-name", "firstName"), ("first name", "firstName"), ("address_2_uuid", "address2UUID"),
            ("a__b_", "aB"), ("größe_ä", "größeÄ"),
            ("data.items", "data.items"), ("test_!_key", nil), ("", nil), ("_", nil), ("a_b.c", nil),
        ] as [(String, String?)])
    func camelCaseOfAKey(key: String, expected: String?) {
        #expect(JSONKey.camelCase(key) == expected)
    }

    @Test(
        arguments: [
            ("age", "age"), ("id", "id"), ("pdf", "pdf"), ("driverIdentifier", "driver_identifier"),
            ("integer16", "integer16"),
            ("userID", "user_id"), ("createdAt", "created_at"), ("iURL", "i_url"), ("userIDFirst", "user_id_first"),
            ("OrderedUser", "ordered_user"), ("UUID", "uuid"), ("imageURLString", "image_url_string"),
            ("plannedToIDs", "planned_to_ids"),
            ("first_name", "first_name"), ("unitedArabEmirates2020", "united_arab_emirates2020"), ("größeÄ", "größe_ä"),
            ("", nil), ("_", nil),
            ("a.b", nil), ("!", nil),
        ] as [(String, String?)])
    func snakeCaseOfAName(name: String, expected: String?) {
        #expect(JSONKey.snakeCase(name) == expected)
    }

    @Test(
        arguments: [
            ("notes", "note"), ("categories", "category"), ("ties", "tie"), ("boxes", "box"), ("classes", "class"),
            ("class", "class"), ("status", "status"), ("axis", "axis"), ("series", "series"), ("s", "s"), ("", ""),
            ("feet", "foot"), ("left_feet", "left_foot"), ("leftFeet", "leftFoot"), ("hotfeet", "hotfeet"),
            ("best_movies", "best_movie"), ("Statuses", "Status"), ("team", "team"),
        ])
    func singularOfAName(name: String, expected: String) {
        #expect(Plural.singular(name) == expected)
    }

    @Test(arguments: ["user_id", "first_name", "image_url_string", "created_at", "uuid", "order_json", "a_b"])
    func aKeyComesBackFromItsName(key: String) throws {
        #expect(JSONKey.snakeCase(try #require(JSONKey.camelCase(key))) == key)
    }
}
