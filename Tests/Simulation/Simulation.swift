import Foundation

/// Keeps stores equal to servers on which everything goes wrong: `Simulation FIRST-SEED LAST-SEED
/// [DEFECT]`.
///
/// Prints what is wrong with which seed, and a line that begins with `end`. One seed alone is told
/// in full.
@main
enum Simulation {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let seeds = arguments.prefix(2).compactMap { UInt64($0) }
        let defect = arguments.dropFirst(2).first.map { Defect(rawValue: $0) }
        guard seeds.count == 2, seeds[0] <= seeds[1], defect != .some(nil) else {
            print("end: wrong arguments")
            exit(64)
        }
        let isTold = seeds[0] == seeds[1]
        var failures = 0
        for seed in seeds[0]...seeds[1] {
            if let problem = problem(of: seed, defect ?? nil, isTold: isTold) {
                failures += 1
                say("seed \(seed): \(problem)")
                // A defect has been noticed; of mistakes, some more may tell what is wrong.
                if failures == 10 || defect != nil { break }
            }
        }
        say(failures == 0 ? "end: all well" : "end: \(failures) seeds failed")
        exit(failures == 0 ? 0 : 1)
    }

    /// What is wrong with a life; nil if nothing is.
    private static func problem(of seed: UInt64, _ defect: Defect?, isTold: Bool) -> String? {
        let outcome = Scheduler.shared.run(seed: seed) { () -> String? in
            let life = SimulatedLife(seed: seed, defect: defect) { line in if isTold { say(line) } }
            do {
                try await life.live()
                return nil
            } catch {
                return "\(error)"
            }
        }
        guard let outcome else { return "it waits for what never happens" }
        return outcome
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
