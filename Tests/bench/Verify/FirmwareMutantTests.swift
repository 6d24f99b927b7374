import DeviceKit
import Foundation
import TestSupport
import Testing

@testable import Verification

/// The mutants to verify, chosen by the environment.
///
/// - `MUTANTS`: a number for a sample of that size (10 if unset), `all`, or a text for all mutants whose change
///   contains the text.
/// - `SEEDS`: the seed of the sample. A sample contains no mutant of `survivors.txt`.
/// - `MUTANTS_LISTED`: if not empty, and without a sample, only mutants in `survivors.txt` are verified.
private enum MutantSample {
    private static let wish = ProcessInfo.processInfo.environment["MUTANTS"] ?? "10"
    static let seed = "\(Seeds(1, soak: 1).range.lowerBound)"
    private static let isOfListed = ProcessInfo.processInfo.environment["MUTANTS_LISTED", default: ""] != ""
    /// The size of the sample; nil if no sample is wanted.
    static let count = Int(wish)

    static func includes(_ mutant: FirmwareMutant) -> Bool {
        if count != nil { return mutant.excuse == nil }
        if isOfListed && mutant.excuse == nil { return false }
        return wish == "all" || mutant.change.contains(wish)
    }

    static var name: String { count == nil ? wish : "seed \(seed)" }
}

@Suite("Bench: mutants of the firmware", .timeLimit(.minutes(MutantSample.count == nil ? 600 : 20)))
struct FirmwareMutantTests {
    @Test("verify finds every mutant of the firmware, except those in survivors.txt")
    func areFound() async throws {
        if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
        try await FirmwareBuild.ready()
        let all = try await FirmwareMutant.all(seed: MutantSample.count == nil ? nil : MutantSample.seed)
        let start = ContinuousClock.now
        let queue = MutantQueue(all.filter(MutantSample.includes), count: MutantSample.count ?? .max)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<FirmwareSlots.count { group.addTask { try await Self.work(queue) } }
            try await group.waitForAll()
        }
        let counts = await queue.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        // If no mutant could be built, nothing else in this test would fail.
        if let count = MutantSample.count { #expect(await queue.counts["killed"] == min(count, all.count)) }
        let time = ContinuousClock.now - start
        print("mutants: \(MutantSample.name) of \(all.count), \(counts.joined(separator: ", "))")
        print("mutants: took", time)
    }

    private static func work(_ queue: MutantQueue) async throws {
        while let mutant = await queue.next() {
            await FirmwareSlots.shared.take()
            let fate = try await withCleanup({ await FirmwareSlots.shared.giveBack() }) { try await mutant.fate() }
            await queue.count(fate)
            try await judge(mutant, fate)
        }
    }

    /// Prints a mutant's fate, and records an issue if it contradicts `survivors.txt`. A reason there that begins with
    /// "Unit tests" claims that the firmware's unit tests find the mutant.
    private static func judge(_ mutant: FirmwareMutant, _ fate: FirmwareMutant.Fate) async throws {
        switch (fate, mutant.excuse) {
        case (.survived, nil):
            let isSeen = try await mutant.isSeenByUnitTests()
            print("mutant survived,", isSeen ? "unit tests find it:" : "nothing finds it:", mutant.change)
            Issue.record("survived: \(mutant.change)")
        case (.survived, let excuse?):
            let isSeen = try await mutant.isSeenByUnitTests()
            print("mutant survived as it may,", isSeen ? "unit tests find it:" : "nothing finds it:", mutant.change)
            #expect(isSeen == excuse.hasPrefix("Unit tests"), "\(excuse): \(mutant.change)")
        case (.killed(let check), nil): print("mutant killed by \(check):", mutant.change)
        case (_, nil): print("mutant \(fate):", mutant.change)
        case (_, _?): Issue.record("it is in survivors.txt, but it is \(fate): \(mutant.change)")
        }
    }
}

/// The mutants still to be verified, and the number of verified ones with each fate.
private actor MutantQueue {
    private var mutants: ArraySlice<FirmwareMutant>
    /// The number of mutants that ``next()`` may still return.
    private var rest: Int
    private(set) var counts: [String: Int] = [:]

    /// - Parameter count: The number of mutants to verify. A mutant that does not build, or whose code equals the
    ///   firmware's, does not count: another one takes its place.
    init(_ mutants: [FirmwareMutant], count: Int) { (self.mutants, rest) = (mutants[...], count) }

    /// Returns the next mutant to verify; nil if enough were returned, or none is left.
    func next() -> FirmwareMutant? {
        guard rest > 0 else { return nil }
        rest -= 1
        return mutants.popFirst()
    }

    func count(_ fate: FirmwareMutant.Fate) {
        switch fate {
        case .killed: counts["killed", default: 0] += 1
        case .survived: counts["survived", default: 0] += 1
        case .doesNotBuild: counts["do not build", default: 0] += 1
        case .sameCode: counts["are the same code", default: 0] += 1
        }
        if fate == .doesNotBuild || fate == .sameCode { rest += 1 }
    }
}
