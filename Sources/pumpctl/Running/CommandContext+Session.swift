import DeviceKit
import LineProtocol
import RecordFormat
import Transports

extension CommandContext {
    /// Runs `body` in a session with the device that the options name, and closes it.
    func withSession<F: FollowedFamily, Value>(
        of family: F.Type, _ body: (Session<F>) async throws -> Value
    ) async throws -> Value {
        let endpoint = try endpoint()
        let link = try await openLink(endpoint, for: .oneCommand, note: output.note)
        return try await withSession(of: family, over: link, endpoint, body)
    }

    /// Runs `body` in a session over `link`, records what is known of the device behind it where that is asked for, and
    /// closes both.
    ///
    /// - Parameter isStop: Whether `body` makes the device safe. Nothing goes before that, neither waiting for a board that
    ///   was reset nor starting to record.
    func withSession<F: FollowedFamily, Value>(
        of _: F.Type, over link: any Link, _ endpoint: Endpoint, isStop: Bool = false,
        _ body: (Session<F>) async throws -> Value
    ) async throws -> Value {
        let session = try await F.begin(over: link, clock: clock, waitsUntilReady: !isStop)
        let result: Result<Value, any Error>
        do {
            var recording = isStop ? nil : try await Recording.begin(self, endpoint, isDefault: false)
            do { result = .success(try await body(session)) } catch { result = .failure(error) }
            if isStop { recording = (try? await Recording.begin(self, endpoint, isDefault: false)) ?? nil }
            let state = await session.state
            if state != F.State() {
                recording?.record(.reading(kind: "state", Reading(F.values(of: state), of: F.row)))
            }
        } catch {
            await session.close()
            throw error
        }
        await session.close()
        return try result.get()
    }
}
