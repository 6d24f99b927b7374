import Testing

@Suite("Bench: build of the firmware")
struct FirmwareRigTests {
    // If a package for building the firmware is missing, parameterized tests with firmware are cancelled, and the
    // cancellation is not reported. This test is skipped instead, with the missing packages as the reason.
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
