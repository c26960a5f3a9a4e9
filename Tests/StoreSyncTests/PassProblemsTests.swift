import JSONMapper
import OneWayTestLimits
import Testing

@testable import StoreSync

/// The rejected objects of a pass.
@Suite(.endsInTime) struct PassProblemsTests {
    @Test func theProblemsOfAReadingCanBeForgotten() {
        func problem(_ index: Int) -> MappingError.Problem {
            MappingError.Problem(entity: "User", index: index, reason: .missingMandatory)
        }
        for (areDoubtful, mayBeListed) in [(false, false), (false, true), (true, false), (true, true)] {
            var problems = PassProblems()
            problems.reject(problem(5), isElement: true, mayBeListed: false)
            (problems.unidentifiedCount, problems.toleratedCount, problems.excludedRelationshipCount) = (1, 2, 3)
            #expect(problems.lastRejectedIndex == 5 && !problems.mayLackObjects)
            let before = problems
            problems.reject(problem(3), isElement: true, mayBeListed: mayBeListed)
            (problems.unidentifiedCount, problems.toleratedCount, problems.excludedRelationshipCount) = (7, 8, 9)
            #expect(problems.lastRejectedIndex == 5 && problems.mayLackObjects == mayBeListed)
            #expect(problems.rejected.map(\.index) == [5, 3] && problems.rejectedCount == 2)
            problems.restore(before, areDoubtful: areDoubtful)
            #expect(problems.rejected.map(\.index) == [5] && problems.rejectedCount == 1)
            #expect(problems.unidentifiedCount == 1 && problems.toleratedCount == 2)
            #expect(problems.excludedRelationshipCount == 3)
            #expect(problems.mayLackObjects == (areDoubtful && mayBeListed))
            problems.beginPage()
            #expect(problems.lastRejectedIndex == nil)
        }
    }
}
