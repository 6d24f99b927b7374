import Testing

@Suite("Verbs seen by a client", .timeLimit(.minutes(5)))
struct VerbsOverCarriersTests {
    @Test("A client on a pseudo-terminal sees each verb", arguments: VerbRow.rows(over: .terminal))
    func terminal(row: VerbRow) async throws {
        try await row.family.serve(over: .terminal) { try await $0.play(row.scene) }
    }

    @Test("A central of the fake bluetoothd sees each verb", arguments: VerbRow.rows(over: .radio))
    func radio(row: VerbRow) async throws {
        try await row.family.serve(over: .radio) { try await $0.play(row.scene) }
    }

    @Test("The table has a scene for each verb", arguments: Carrier.allCases, SimulatedFamily.allCases)
    func complete(carrier: Carrier, family: SimulatedFamily) {
        let rows = VerbRow.rows(over: carrier).filter { $0.family == family }.map(\.verb)
        let verbs = family.verbs(over: carrier)
        for verb in verbs where !rows.contains(verb) {
            Issue.record("VerbRow does not say what a client of a \(family) sees of '\(verb)' over the \(carrier)")
        }
        #expect(rows.sorted() == verbs.sorted())
    }
}
