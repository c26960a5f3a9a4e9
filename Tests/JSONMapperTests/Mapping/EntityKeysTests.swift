import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct EntityKeysTests {
    private func keys(
        _ dialect: JSONDialect = .sync, of entity: String = "User",
        @DataModel.Builder<SyncEntity> _ entities: () -> [SyncEntity]
    ) throws -> EntityKeys {
        let model = try DataModel(entities())
        return EntityKeys(try model.layout(of: entity), in: model, dialect: dialect)
    }

    @Test func namesAreFoundInBothStylesAndWrittenInTheWantedOne() throws {
        let keys = try keys { SyncEntity("User") { SyncAttribute("firstName", .string) } }
        #expect(keys.attribute("firstName")?.spellings == [["firstName"], ["first_name"]])
        #expect(keys.attribute("firstName")?.path() == ["first_name"])
        #expect(keys.attribute("firstName")?.path(.camelCase) == ["firstName"])
        #expect(keys.attribute("lastName") == nil)
    }

    @Test func aNameThatIsNotTheCamelCaseOfItsKeyIsFoundByItselfAlone() throws {
        let keys = try keys { SyncEntity("User") { SyncAttribute("uniqueId", .string) } }
        #expect(keys.attribute("uniqueId")?.spellings == [["uniqueId"]])
        #expect(keys.attribute("uniqueId")?.path() == ["unique_id"])
    }

    @Test func customKeysStandBeforeNamesAndAreWrittenInEveryStyle() throws {
        let keys = try keys {
            SyncEntity("User") {
                SyncAttribute(
                    "age", .int16, userInfo: ["sync.remoteKey": "age_of_person", "hyper.remoteKey": "old_age"])
                SyncAttribute("city", .string, userInfo: ["hyper.remoteKey": "address.city_name"])
            }
        }
        #expect(keys.attribute("age")?.spellings == [["age_of_person"], ["age"]])
        #expect(keys.attribute("age")?.path(.camelCase) == ["age_of_person"])
        #expect(keys.attribute("city")?.spellings == [["address", "city_name"], ["address.city_name"], ["city"]])
        #expect(keys.attribute("city")?.path() == ["address", "city_name"])
    }

    /// What a path leads through is no value of the attribute.
    @Test func aNameThatIsTheFirstStepOfACustomPathIsNoKeyOfItsOwn() throws {
        let keys = try keys {
            SyncEntity("User") {
                SyncAttribute("company", .string, userInfo: ["sync.remoteKey": "company.name"])
                SyncAttribute("homeTown", .string, userInfo: ["sync.remoteKey": "home_town.name"])
                SyncAttribute("id", .int64, userInfo: ["sync.remoteKey": "id.value"])
                SyncAttribute("age", .int16, userInfo: ["sync.remoteKey": "age"])
            }
        }
        #expect(keys.attribute("company")?.spellings == [["company", "name"], ["company.name"]])
        #expect(
            keys.attribute("homeTown")?.spellings == [["home_town", "name"], ["home_town.name"], ["homeTown"]])
        #expect(keys.attribute("id")?.spellings == [["id", "value"], ["id.value"]])
        #expect(keys.attribute("age")?.spellings == [["age"]])
    }

    @Test func reservedWordsStandForNamesPrefixedWithTheEntityOrItsParent() throws {
        let keys = try keys(of: "SpecialUser") {
            SyncEntity("User") { SyncAttribute("userDescription", .string) }
            SyncEntity("SpecialUser", parent: "User") {
                SyncAttribute("specialUserType", .string)
                SyncAttribute("companyType", .string)
            }
        }
        #expect(keys.attribute("userDescription")?.spellings.last == ["description"])
        #expect(keys.attribute("userDescription")?.path(.camelCase) == ["description"])
        #expect(keys.attribute("specialUserType")?.path() == ["type"])
        #expect(keys.attribute("companyType")?.path() == ["company_type"])
    }

    @Test func relationshipsAreFoundAsObjectsAndByIdentifiers() throws {
        let keys = try keys {
            SyncEntity("User") {
                SyncRelationship("bestFriend", toOne: "User")
                SyncRelationship("notes", toMany: "User", userInfo: ["sync.remoteKey": "data.annotations"])
                SyncRelationship("tags", toMany: "User", userInfo: ["sync.nonExportable": "x"])
            }
        }
        #expect(keys.relationship("bestFriend")?.spellings == [["best_friend"], ["bestFriend"]])
        #expect(
            keys.relationship("bestFriend")?.identifierSpellings == [
                ["best_friend_id"], ["bestFriendID"], ["bestFriendId"],
            ])
        #expect(keys.relationship("notes")?.spellings == [["data", "annotations"]])
        #expect(keys.relationship("notes")?.identifierSpellings == [])
        #expect(keys.relationship("tags")?.identifierSpellings.first == ["tags_ids"])
        #expect(keys.relationship("tags")?.isExportable == false)
    }

    @Test(arguments: [
        ("marked", ["sync.isPrimaryKey": "YES", "sync.remoteKey": "number"], "number"),
        ("marked", ["hyper.isPrimaryKey": "true"], "marked"),
        ("id", [:], "id"), ("remoteID", [:], "id"),
    ])
    func thePrimaryKeyIsTheMarkedAttributeOrTheOneNamedSo(name: String, userInfo: [String: String], remote: String)
        throws
    {
        let keys = try keys {
            SyncEntity("User") {
                SyncAttribute("text", .string, userInfo: ["sync.isPrimaryKey": "NO"])
                SyncAttribute(name, .int64, userInfo: userInfo)
            }
        }
        #expect(keys.localPrimaryKey == name)
        #expect(keys.remotePrimaryKey == remote)
    }

    @Test func markedAttributesAreTheKeyTogether() throws {
        let model = try DataModel {
            SyncEntity("Line") {
                SyncAttribute("order", .int64, userInfo: ["sync.isPrimaryKey": "YES"])
                SyncAttribute("text", .string)
                SyncAttribute("number", .int64, userInfo: ["hyper.isPrimaryKey": "true"])
            }
        }
        let keys = EntityKeys(try model.layout(of: "Line"), in: model)
        #expect(keys.identityColumns == [0, 2])
        #expect(keys.localPrimaryKey == nil)
        #expect(try JSONDialect.sync.identities(in: model) == ["Line": ["order", "number"]])
    }

    @Test func anEntityWithoutAKeyHasNone() throws {
        let keys = try keys { SyncEntity("User") { SyncAttribute("text", .string) } }
        #expect(keys.localPrimaryKey == nil)
        #expect(keys.remotePrimaryKey == nil)
        #expect(keys.identityColumns.isEmpty)
    }

    @Test func grootInfersNothing() throws {
        let keys = try keys(.groot) {
            SyncEntity("User", userInfo: ["identityAttributes": "a , b", "JSONDictionaryTransformerName": "T"]) {
                SyncAttribute("a", .int64, userInfo: ["JSONKeyPath": "deep.a", "JSONTransformerName": "A"])
                SyncAttribute("b", .int64)
                SyncRelationship("friend", toOne: "User")
            }
        }
        #expect(keys.attribute("a")?.spellings == [["deep", "a"]])
        #expect(keys.attribute("a")?.transformerName == "A")
        #expect(keys.attribute("b")?.path() == nil)
        #expect(keys.attribute("b")?.isExportable == false)
        #expect(keys.relationship("friend")?.spellings == [])
        #expect(keys.identityColumns == [0, 1])
        #expect(keys.localPrimaryKey == nil)
        #expect(keys.objectTransformerName == "T")
    }

    @Test func wholeNumbersOfAnIdentityHave64BitsInTheSyncDialect() throws {
        let model = try DataModel {
            SyncEntity("Base", abstract: true) {
                SyncAttribute("id", .int16)
                SyncAttribute("age", .int16)
            }
            SyncEntity("User", parent: "Base") {
                SyncAttribute("name", .string)
            }
        }
        let identified = try JSONDialect.sync.identified(model)
        #expect(try identified.layout(of: "User").attributes.map(\.type) == [.int64, .int16, .string])
        #expect(try JSONDialect.groot.identified(model).layout(of: "User").attributes[0].type == .int16)
    }

    @Test func identitiesOfAModelAreWhatEachEntityAdds() throws {
        let model = try DataModel {
            SyncEntity("Contact", userInfo: ["identityAttribute": "uuid", "entityMapperName": "M"]) {
                SyncAttribute("uuid", .string)
                SyncAttribute("id", .int64)
            }
            SyncEntity("Person", parent: "Contact", userInfo: ["identityAttributes": "email"]) {
                SyncAttribute("email", .string)
            }
            SyncEntity("Other") { SyncAttribute("text", .string, userInfo: ["hyper.isPrimaryKey": "YES"]) }
        }
        #expect(try JSONDialect.groot.identities(in: model) == ["Contact": ["uuid"], "Person": ["email"]])
        #expect(try JSONDialect.sync.identities(in: model) == ["Contact": ["id"], "Other": ["text"]])
        #expect(try JSONDialect.groot.identified(model).layout(of: "Person").identityColumns == [0, 2])
        #expect(EntityKeys(try model.layout(of: "Person"), in: model, dialect: .groot).entityMapperName == "M")
    }

    @Test func anIdentityAnnotationThatNamesNothingIsAnError() throws {
        let model = try DataModel {
            SyncEntity("A", userInfo: ["identityAttributes": "missing"]) { SyncAttribute("b", .string) }
        }
        #expect(throws: ModelError.unknownIdentity(entity: "A", attribute: "missing")) {
            try JSONDialect.groot.identities(in: model)
        }
    }

    @Test func anInheritedPrimaryKeyStays() throws {
        let model = try DataModel {
            SyncEntity("A") { SyncAttribute("id", .int64) }
            SyncEntity("B", parent: "A") { SyncAttribute("other", .string, userInfo: ["sync.isPrimaryKey": "YES"]) }
        }
        #expect(EntityKeys(try model.layout(of: "B"), in: model).localPrimaryKey == "id")
        #expect(try JSONDialect.sync.identified(model).layout(of: "B").identityColumns == [0])
    }
}
