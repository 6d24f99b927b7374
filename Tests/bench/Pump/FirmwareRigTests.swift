import Testing

@Suite("Bench: firmware available")
struct FirmwareRigTests {
    // Parameterized tests with firmware are cancelled if it can't be built, which is not reported. This test is skipped
    // with the reason.
    @Test(
        "Our firmware builds and runs in simavr",
        .enabled(if: FirmwareBuild.reasonToSkip == nil, Comment(rawValue: FirmwareBuild.reasonToSkip ?? "")))
    func firmware() async throws {
        try await RigKind(pump: .firmware, thermistors: 2).run { rig in
            let motor = try await rig.motor()
            #expect(motor == .off)
        }
    }
}
