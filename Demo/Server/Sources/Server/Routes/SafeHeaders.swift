import HTTPTypes
import Hummingbird

/// Adds header fields to every response, also of errors, that limit what a browser does with it.
struct SafeHeaders<Context: RequestContext>: RouterMiddleware {
    /// The page loads only files of the server, and nothing may contain it.
    private static var policy: String {
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as any HTTPResponseError {
            response = try error.response(from: request, context: context)
        }
        response.headers[.contentSecurityPolicy] = Self.policy
        response.headers[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("Referrer-Policy") { response.headers[name] = "no-referrer" }
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        return response
    }
}
